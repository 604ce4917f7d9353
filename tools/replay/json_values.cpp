#include "tools/replay/json_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tools/replay/trace.hpp"

namespace ccl_tests::replay {

using Json = nlohmann::json;

namespace {

constexpr std::string_view no_number = "", infinite = "i";  // texts in place of nan and inf

}  // namespace

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+';
}

void NotNumbers::replace(std::span<char> piece) {
  for (std::size_t k = 0, end = 0; k < piece.size(); k = end) {
    const char c = piece[k];
    end = k + 1;
    if (in_text_) {
      in_text_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      in_text_ = true;
    } else if (is_of_word(c)) {
      std::string word;
      for (end = k; end < piece.size() && is_of_word(piece[end]); ++end)
        if (piece[end] != '-' && piece[end] != '+') word += static_cast<char>(piece[end] | 0x20);
      const bool inf = word == "inf" || word == "infinity";
      if (!inf && word != "nan") continue;
      std::fill(piece.begin() + k, piece.begin() + end, ' ');
      const std::string text = fmt::format("\"{}\"", inf ? infinite : no_number);
      std::copy(text.begin(), text.end(), piece.begin() + k);
    }
  }
}

Json parse_text(std::string_view text) {
  const auto shallow = [](int depth, Json::parse_event_t /*event*/, const Json& /*value*/) {
    if (depth > static_cast<int>(most_levels))
      throw ImpossibleRecord(fmt::format("it has more than {} levels", most_levels));
    return true;
  };
  std::string mended(text);
  NotNumbers().replace(mended);
  return Json::parse(mended, shallow, false);
}

std::string text(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

Json member(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() ? *at : Json();
}

std::optional<std::uint64_t> whole(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  if (!value.is_number_unsigned())
    throw ImpossibleRecord(fmt::format("{} is no number from 0 to 2^64 - 1", value.dump()));
  return value.get<std::uint64_t>();
}

std::optional<std::uint64_t> whole(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() ? whole(*at) : std::nullopt;
}

double seconds(const Json& object, const char* key, double unit_s) {
  const auto at = object.find(key);
  if (at == object.end()) return not_known_s;
  if (*at == infinite) return std::numeric_limits<double>::infinity();
  return at->is_number() ? at->get<double>() * unit_s : not_known_s;
}

std::vector<std::size_t> list(const Json& value) {
  const Json parsed = value.is_string() ? parse_text(value.get<std::string>()) : value;
  std::vector<std::size_t> numbers;
  if (!parsed.is_array()) return numbers;
  for (const Json& one : parsed) {
    const auto number = whole(one);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<int> ranks(const Json& value) {
  std::vector<int> all;
  for (const std::size_t rank : list(value)) all.push_back(bounded_rank(rank));
  return all;
}

}  // namespace ccl_tests::replay
