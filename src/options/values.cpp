#include "src/options/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

// Names that are read as a type's.
constexpr std::pair<std::string_view, DataType> short_types[] = {{"fp16", DataType::half},
                                                                 {"bf16", DataType::bfloat16},
                                                                 {"fp32", DataType::float32},
                                                                 {"fp64", DataType::float64}};

// Names that other frameworks have for the same. They are not read, but suggest ours.
constexpr std::pair<std::string_view, std::string_view> aliases[] = {
    {"float16", "half"},    {"f16", "half"},        {"float32", "float"}, {"f32", "float"},
    {"float64", "double"},  {"f64", "double"},      {"int", "int32"},     {"char", "int8"},
    {"uint", "uint32"},     {"fp8_e4m3", "f8e4m3"}, {"add", "sum"},       {"mean", "avg"},
    {"fp8_e5m2", "f8e5m2"}, {"average", "avg"},     {"product", "prod"},
};

std::optional<DataType> parse_type_or_short_name(const std::string& text) {
  for (const auto& [name, type] : short_types)
    if (text == name) return type;
  return parse_type(text);
}

std::size_t edits(std::string_view a, std::string_view b) {  // Levenshtein distance
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

[[noreturn]] void refuse_name(std::string_view what, const std::string& text,
                              const std::vector<std::string>& choices) {
  const std::string meant = did_you_mean(text, choices);
  throw UsageError(fmt::format("unknown {} {}{} accepted: {}", what, quote(text),
                               meant.empty() ? ";" : meant, fmt::join(choices, ", ")));
}

template <class T, class Parse>
std::vector<T> parse_names(const std::string& text, std::string_view what, std::span<const T> all,
                           std::span<const T> known, Parse&& parse) {
  if (text == "all") return {all.begin(), all.end()};
  std::vector<T> result;
  for (const std::string& item : split_list(text)) {
    const auto value = parse(item);
    if (!value) {
      std::vector<std::string> names;
      for (const T candidate : known) names.emplace_back(name(candidate));
      names.emplace_back("all");
      refuse_name(what, item, names);
    }
    result.push_back(*value);
  }
  return result;
}

}  // namespace

std::optional<std::string> suggestion(std::string_view given,
                                      const std::vector<std::string>& choices) {
  std::string text(given);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has = [&](std::string_view name) {
    return std::find(choices.begin(), choices.end(), name) != choices.end();
  };
  for (const auto& [alias, name] : aliases) {
    if (text == alias && has(name)) return std::string(name);
  }
  std::optional<std::string> best;
  std::size_t least = 3;
  for (const std::string& choice : choices) {
    const std::size_t distance = edits(text, choice);
    if (distance < least && distance <= std::min(text.size(), choice.size()) / 2) {
      least = distance;
      best = choice;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& choices) {
  const auto name = suggestion(text, choices);
  return name ? fmt::format(", did you mean '{}'?", *name) : std::string();
}

int parse_int(const std::string& text, int lowest, int highest) {
  long long value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < lowest || value > highest) {
    throw UsageError(fmt::format("{} is not accepted; accepted: a whole number from {} to {}",
                                 quote(text), lowest, highest));
  }
  return static_cast<int>(value);
}

double parse_number(const std::string& text, double lowest) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value) || value < lowest) {
    throw UsageError(
        fmt::format("{} is not accepted; accepted: a number from {} on", quote(text), lowest));
  }
  return value;
}

std::size_t parse_size(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::general);
  std::string unit(stop, end);
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  const std::string_view prefixes = "KMGT";
  const std::size_t prefix = unit.empty() ? std::string::npos : prefixes.find(unit[0]);
  const std::string rest = prefix == std::string::npos ? unit : unit.substr(1);
  const bool known =
      rest.empty() || rest == "B" || (prefix != std::string::npos && (rest == "I" || rest == "IB"));
  const double scale =
      prefix == std::string::npos ? 1 : std::pow(1024.0, static_cast<double>(prefix + 1));
  const double bytes = value * scale;
  if (error != std::errc() || !known || !(bytes >= 0) || bytes > 9e18) {
    throw UsageError(
        fmt::format("{} is not a size; accepted: bytes with an optional K, M, G or T (binary), "
                    "for example 64M",
                    quote(text)));
  }
  constexpr double fractions_count_below = 1024;  // above they are less than 0.1 %
  if (bytes < fractions_count_below && bytes != std::floor(bytes))
    throw UsageError(fmt::format("{} is {} B; accepted: whole bytes", quote(text), bytes));
  return static_cast<std::size_t>(bytes);
}

std::vector<std::size_t> odd_sizes() {
  constexpr std::size_t element_bytes = 8;
  std::vector<std::size_t> sizes = {1,      3,      7,       31,     33,    127,    129,
                                    511,    513,    1009,    2047,   2049,  8191,   8193,
                                    16381,  32767,  32769,   65537,  65539, 131073, 262147,
                                    524287, 524289, 2097143, 2097153};
  for (std::size_t& size : sizes) size *= element_bytes;
  return sizes;
}

std::vector<std::size_t> parse_sizes(const std::string& list) {
  std::vector<std::size_t> sizes;
  for (const std::string& item : split_list(list)) {
    const std::vector<std::size_t> meant =
        item == "odd" ? odd_sizes() : std::vector{parse_size(item)};
    sizes.insert(sizes.end(), meant.begin(), meant.end());
  }
  return sizes;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    items.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  if (std::any_of(items.begin(), items.end(), [](const auto& item) { return item.empty(); })) {
    throw UsageError(
        fmt::format("{} has an empty item; accepted: a comma list without gaps", quote(text)));
  }
  return items;
}

std::vector<DataType> parse_types(const std::string& text) {
  return parse_names(text, "type", all_types(), all_types(), parse_type_or_short_name);
}

std::vector<ReduceOp> parse_ops(const std::string& text) {
  return parse_names(text, "operation", all_ops(), every_op(), parse_op);
}

SizeLimit parse_limit(const std::string& text, std::string_view unit) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw UsageError(
        fmt::format("{} has no colon; accepted: SIZE:{}, for example 64M:1.5", quote(text), unit));
  }
  const std::size_t second = text.find(':', colon + 1);
  SizeLimit limit{parse_size(text.substr(0, colon)),
                  parse_number(text.substr(colon + 1, second - colon - 1), 0)};
  if (second == std::string::npos) return limit;
  const std::string times = text.substr(second + 1);
  if (times != "out_of_place" && times != "in_place")
    throw UsageError(fmt::format(
        "{} is not a placement; accepted: out_of_place or in_place; without one both are meant",
        quote(times)));
  limit.times = times == "in_place" ? Placements::in_place : Placements::out_of_place;
  return limit;
}

std::string parse_name(const std::string& text, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), text) == names.end()) refuse_name("name", text, names);
  return text;
}

std::string parse_file(const std::string& text) {
  if (text.empty()) throw UsageError("'' is not a name; accepted: the name of a file or folder");
  return text;
}

std::string size_text(std::size_t bytes) {
  constexpr std::string_view units = "KMGT";
  std::string unit;
  for (std::size_t at = 0; at < units.size() && bytes > 0 && bytes % 1024 == 0; ++at) {
    bytes /= 1024;
    unit = units[at];
  }
  return std::to_string(bytes) + unit;
}

Parser<double> percent(double least, double most) {
  return {[least, most](const std::string& text) {
    const std::string number = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
    const double value = parse_number(number, least);
    if (value > most)
      throw UsageError(
          fmt::format("{} is too large; accepted: {} to {} percent", quote(text), least, most));
    return value / 100;
  }};
}

Parser<int> in_range(int lowest, int highest) {
  constexpr int few = 10;
  Parser<int> parser{[=](const std::string& text) { return parse_int(text, lowest, highest); }};
  for (int i = lowest; highest - lowest < few && i <= highest; ++i)
    parser.values.push_back(std::to_string(i));
  return parser;
}
Parser<double> at_least(double lowest) {
  return {[=](const std::string& text) { return parse_number(text, lowest); }};
}
Parser<double> above_0() {
  return {[](const std::string& text) {
    const double value = parse_number(text, 0);
    if (value > 0) return value;
    throw UsageError(quote(text) + " is not accepted; accepted: a number above 0");
  }};
}
Parser<double> duration() {
  return {[](const std::string& text) {
    const std::string_view units = "smh";
    const std::size_t unit = text.empty() ? std::string::npos : units.find(text.back());
    const bool has_unit = unit != std::string::npos;
    constexpr double seconds[] = {1, 60, 3600};
    double value = 0;
    try {
      value = parse_number(has_unit ? text.substr(0, text.size() - 1) : text, 0);
    } catch (const UsageError&) {  // said below
    }
    if (value <= 0)
      throw UsageError(fmt::format(
          "{} is not accepted; accepted: more than 0 seconds, or 90s, 15m, 1h", quote(text)));
    return has_unit ? value * seconds[unit] : value;
  }};
}
Parser<bool> zero_or_one() {
  return {[](const std::string& text) { return parse_int(text, 0, 1) == 1; }, {"0", "1"}};
}
Parser<std::string> one_of(const std::vector<std::string>& names) {
  return {[names](const std::string& text) { return parse_name(text, names); }, names};
}
Parser<std::string> any_text() {
  return {[](const std::string& text) { return text; }};
}

}  // namespace ccl_tests
