#include "src/core/agreement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/serialize.hpp"
#include "src/core/sha256.hpp"

namespace ccl_tests {

// Lists of two: objects would take half as much memory again, which nobody has planned for.
static void to_json(nlohmann::json& json, const NamedValue& term) {
  json = nlohmann::json::array({term.name, term.value});
}
static void from_json(const nlohmann::json& json, NamedValue& term) {
  json.at(0).get_to(term.name);
  json.at(1).get_to(term.value);
}

namespace {

using NamedTerms = std::vector<NamedValue>;

constexpr std::string_view mark = "agreement ";  // of these exchanges
constexpr std::size_t most_named = 8;            // in one message

std::string value_of(const NamedTerms& terms, const std::string& name) {
  const auto term = std::ranges::find(terms, name, &NamedValue::name);
  return term == terms.end() ? "missing" : term->value;
}

// "key 'loss' is missing, on rank 0 it is float[3]"
std::string first_difference(const NamedTerms& theirs, const NamedTerms& reference,
                             int reference_rank) {
  for (const auto* terms : {&reference, &theirs}) {
    for (const auto& [name, value] : *terms) {
      const std::string here = value_of(theirs, name), there = value_of(reference, name);
      if (here != there)
        return fmt::format("{} is {}, on rank {} it is {}", name, here, reference_rank, there);
    }
  }
  return fmt::format("the terms come in another order than on rank {}", reference_rank);
}

std::string names(const std::vector<int>& ranks) {
  const std::size_t shown = std::min(ranks.size(), most_named);
  const std::string first = fmt::format("{}", fmt::join(std::span(ranks).first(shown), ", "));
  if (shown < ranks.size()) return fmt::format("ranks {} and {} more", first, ranks.size() - shown);
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", first);
}

std::string diagnosis(const std::vector<std::string>& packed) {
  std::map<std::string_view, std::vector<int>> parties;  // ranks by what they mean
  for (std::size_t rank = 0; rank < packed.size(); ++rank)
    parties[packed[rank]].push_back(static_cast<int>(rank));
  const auto most =
      std::max_element(parties.begin(), parties.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.size(), -a.second.front()) <
               std::pair(b.second.size(), -b.second.front());
      });
  const auto reference = from_bytes<NamedTerms>(most->first);
  std::string text;
  std::size_t named = 0;
  for (std::size_t rank = 0; rank < packed.size(); ++rank) {
    const std::vector<int>& ranks = parties[packed[rank]];
    if (ranks.front() != static_cast<int>(rank) || ranks == most->second) continue;
    if (named++ >= most_named) continue;
    text += fmt::format(
        "{}{}: {}", text.empty() ? "" : "; ", names(ranks),
        first_difference(from_bytes<NamedTerms>(packed[rank]), reference, most->second.front()));
  }
  if (named > most_named) text += "; and others";
  return text;
}

}  // namespace

std::optional<std::string> disagreement(ControlChannel& channel, double limit_s,
                                        std::string_view operation,
                                        const std::vector<NamedValue>& terms) {
  NamedTerms all = {{"the operation", std::string(operation)}};
  all.insert(all.end(), terms.begin(), terms.end());
  const std::string mine = to_bytes(all);
  const auto digests = channel.all_gather(std::string(mark) + text_digest(mine), limit_s);
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
