#include "src/core/agreement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

constexpr std::string_view mark = "agreement ";  // of these exchanges
constexpr std::size_t most_named = 8;            // in one message

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

std::string pack(std::string_view operation, const std::vector<NamedValue>& terms) {
  std::string packed;
  put(packed, "the operation");
  put(packed, operation);
  for (const NamedValue& term : terms) {
    put(packed, term.name);
    put(packed, term.value);
  }
  return packed;
}

std::vector<NamedValue> unpack(std::string_view packed) {
  std::vector<NamedValue> terms;
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
  return fmt::format("{}{:016x} {}", mark, hash, text.size());
}

std::optional<std::string> value_of(const std::vector<NamedValue>& terms, const std::string& name) {
  const auto term = std::find_if(terms.begin(), terms.end(), [&](const NamedValue& candidate) {
    return candidate.name == name;
  });
  if (term == terms.end()) return std::nullopt;
  return term->value;
}

// "key 'loss' is missing, on rank 0 it is float[3]"
std::string first_difference(const std::vector<NamedValue>& theirs,
                             const std::vector<NamedValue>& reference, int reference_rank) {
  const auto text = [](const std::optional<std::string>& value) {
    return value.value_or("missing");
  };
  for (const auto* terms : {&reference, &theirs}) {
    for (const NamedValue& term : *terms) {
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
  const std::vector<NamedValue> reference = unpack(most->packed);
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

std::optional<std::string> disagreement(ControlChannel& channel, double limit_s,
                                        std::string_view operation,
                                        const std::vector<NamedValue>& terms) {
  const std::string mine = pack(operation, terms);
  const auto digests = channel.all_gather(digest(mine), limit_s);
  for (std::size_t rank = 0; rank < digests.size(); ++rank) {
    if (!digests[rank].starts_with(mark))
      throw Error(fmt::format("{}: rank {} is somewhere else", operation, rank));
  }
  const auto differs = [&](const std::string& other) { return other != digests.front(); };
  if (std::none_of(digests.begin(), digests.end(), differs)) return std::nullopt;
  return fmt::format("{}: the ranks do not agree: {}", operation,
                     diagnosis(channel.all_gather(mine, limit_s)));
}

}  // namespace ccl_tests
