#include "src/primitives/agreement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace ccl::primitives {
namespace {

constexpr std::size_t most_named = 8;  // in one message

// Length, colon, text.
void put(std::string& out, std::string_view text) {
  out += fmt::format("{}:{}", text.size(), text);
}

std::string take(std::string_view& packed) {
  const std::size_t colon = packed.find(':');
  const std::size_t size = std::stoull(std::string(packed.substr(0, colon)));
  std::string text(packed.substr(colon + 1, size));
  packed.remove_prefix(colon + 1 + size);
  return text;
}

std::string pack(std::string_view operation, const std::vector<Term>& terms) {
  std::string packed;
  put(packed, "the operation");
  put(packed, operation);
  for (const Term& term : terms) {
    put(packed, term.name);
    put(packed, term.value);
  }
  return packed;
}

std::vector<Term> unpack(std::string_view packed) {
  std::vector<Term> terms;
  while (!packed.empty()) {
    std::string name = take(packed);
    terms.push_back({std::move(name), take(packed)});
  }
  return terms;
}

// FNV-1a.
std::string digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x} {}", hash, text.size());
}

std::optional<std::string> value_of(const std::vector<Term>& terms, const std::string& name) {
  const auto term = std::find_if(terms.begin(), terms.end(),
                                 [&](const Term& candidate) { return candidate.name == name; });
  if (term == terms.end()) return std::nullopt;
  return term->value;
}

// "key 'loss' is missing, on rank 0 it is float[3]"
std::string first_difference(const std::vector<Term>& theirs, const std::vector<Term>& reference,
                             int reference_rank) {
  const auto text = [](const std::optional<std::string>& value) {
    return value.value_or("missing");
  };
  for (const auto* terms : {&reference, &theirs}) {
    for (const Term& term : *terms) {
      const auto here = value_of(theirs, term.name);
      const auto there = value_of(reference, term.name);
      if (here != there)
        return fmt::format("{} is {}, on rank {} it is {}", term.name, text(here), reference_rank,
                           text(there));
    }
  }
  return fmt::format("the terms come in another order than on rank {}", reference_rank);
}

std::string names(const std::vector<int>& ranks) {
  const std::vector<int> first(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                  ranks.size(), most_named)));
  if (first.size() < ranks.size())
    return fmt::format("ranks {} and {} more", fmt::join(first, ", "), ranks.size() - first.size());
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(first, ", "));
}

// Ranks by what they mean, those with the lowest rank first.
struct Party {
  std::string packed;
  std::vector<int> ranks;
};
std::vector<Party> parties_of(const std::vector<std::string>& packed) {
  std::vector<Party> parties;
  std::map<std::string_view, std::size_t> known;
  for (std::size_t rank = 0; rank < packed.size(); ++rank) {
    const auto [at, is_new] = known.emplace(packed[rank], parties.size());
    if (is_new) parties.push_back({packed[rank], {}});
    parties[at->second].ranks.push_back(static_cast<int>(rank));
  }
  return parties;
}

std::string diagnosis(const std::vector<std::string>& packed) {
  const std::vector<Party> parties = parties_of(packed);
  const auto most = std::max_element(
      parties.begin(), parties.end(),
      [](const Party& a, const Party& b) { return a.ranks.size() < b.ranks.size(); });
  const std::vector<Term> reference = unpack(most->packed);
  std::string text;
  std::size_t named = 0;
  for (const Party& party : parties) {
    if (&party == &*most || named++ >= most_named) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", names(party.ranks),
                        first_difference(unpack(party.packed), reference, most->ranks.front()));
  }
  if (named > most_named) text += "; and others";
  return text;
}

}  // namespace

void check_agreement(Group& group, std::string_view operation, const std::vector<Term>& terms) {
  const std::string mine = pack(operation, terms);
  const auto digests = group.exchange(digest(mine));
  const auto differs = [&](const std::string& other) { return other != digests.front(); };
  if (std::none_of(digests.begin(), digests.end(), differs)) return;
  throw Error(
      fmt::format("{}: the ranks do not agree: {}", operation, diagnosis(group.exchange(mine))));
}

void check_list(Group& group, std::size_t objects, int src) {
  check_agreement(
      group, "check_list",
      {{"the number of objects", std::to_string(objects)}, {"the source", std::to_string(src)}});
}

void check_dictionary(Group& group, std::span<const Entry> dictionary) {
  std::vector<Term> terms;
  for (const Entry& entry : dictionary)
    terms.push_back({fmt::format("key '{}'", entry.key), to_text(entry.tensor)});
  std::stable_sort(terms.begin(), terms.end(),
                   [](const Term& a, const Term& b) { return a.name < b.name; });
  for (std::size_t i = 1; i < terms.size(); ++i)
    if (terms[i].name == terms[i - 1].name) terms[i - 1].name += ", again,";
  check_agreement(group, "check_dictionary", terms);
}

void check_metrics(Group& group, const std::map<std::string, double>& metrics) {
  std::vector<Term> terms;
  for (const auto& metric : metrics) terms.push_back({fmt::format("'{}'", metric.first), "there"});
  check_agreement(group, "check_metrics", terms);
}

void check_tensors(Group& group, std::span<const Tensor> tensors) {
  std::vector<Term> terms{{"the number of tensors", std::to_string(tensors.size())}};
  for (std::size_t i = 0; i < tensors.size(); ++i)
    terms.push_back({fmt::format("tensor {}", i), to_text(tensors[i])});
  check_agreement(group, "check_tensors", terms);
}

void check_parameters(Group& group, std::span<const Parameter> parameters) {
  std::vector<Term> terms{{"the number of parameters", std::to_string(parameters.size())}};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& gradient = parameters[i].gradient;
    terms.push_back({fmt::format("the gradient of parameter {}", i),
                     gradient ? to_text(*gradient) : std::string("not there")});
  }
  check_agreement(group, "check_parameters", terms);
}

}  // namespace ccl::primitives
