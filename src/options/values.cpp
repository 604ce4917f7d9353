#include "src/options/values.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <span>
#include <sstream>
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

std::optional<DataType> parse_type_or_short_name(const std::string& text) {
  for (const auto& [name, type] : short_types)
    if (text == name) return type;
  return parse_type(text);
}

template <class T, class Parse>
std::vector<T> parse_names(const std::string& text, std::string_view what, std::span<const T> all,
                           std::span<const T> known, Parse&& parse) {
  if (text == "all") return {all.begin(), all.end()};
  std::vector<T> result;
  for (const std::string& item : split_list(text)) {
    const auto value = parse(item);
    if (!value) {
      std::vector<std::string> names = all_names(known);
      names.emplace_back("all");
      throw UsageError(unknown_name(what, item, names));
    }
    result.push_back(*value);
  }
  return result;
}

// A convolution without bias, then a batch norm's weight and bias.
void add_convolution(std::vector<std::size_t>& list, std::size_t in, std::size_t out,
                     std::size_t kernel) {
  list.push_back(in * out * kernel * kernel);
  list.push_back(out);
  list.push_back(out);
}

std::vector<std::size_t> resnet50() {
  std::vector<std::size_t> list;
  add_convolution(list, 3, 64, 7);
  std::size_t in = 64;
  std::size_t width = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      add_convolution(list, in, width, 1);
      add_convolution(list, width, width, 3);
      add_convolution(list, width, 4 * width, 1);
      if (block == 0) add_convolution(list, in, 4 * width, 1);  // the shortcut
      in = 4 * width;
    }
    width *= 2;
  }
  list.push_back(in * 1000);
  list.push_back(1000);
  return list;
}

std::vector<std::size_t> llama_block() {
  constexpr std::size_t width = 4096;
  constexpr std::size_t inner = 11008;
  // Queries, keys, values and output; gate, down and up; two norms.
  std::vector<std::size_t> list(4, width * width);
  list.insert(list.end(), 3, width * inner);
  list.insert(list.end(), 2, width);
  return list;
}

struct RuleName {
  std::string_view name, alias;
  RoutingKind kind;
  double most = 0;  // largest parameter; 0: it has none
};
constexpr std::array<RuleName, 9> rule_names = {
    RuleName{"balanced", "W0", RoutingKind::balanced},
    RuleName{"hot-experts", "W1", RoutingKind::hot_experts},
    RuleName{"hot-rank", "W2", RoutingKind::hot_rank},
    RuleName{"spread-hot", "W3", RoutingKind::spread_hot},
    RuleName{"ragged", "W4", RoutingKind::ragged},
    RuleName{"idle-rank", "W5", RoutingKind::idle_rank},
    RuleName{"lognormal", "", RoutingKind::lognormal, 10},
    RuleName{"zipf", "", RoutingKind::zipf, 10},
    RuleName{"maxvio", "", RoutingKind::maxvio, 1e6}};
// Returns a finite decimal number; nullopt: the text is none.
std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

constexpr std::string_view trace_prefix = "trace:";
constexpr const char* accepted_routings =
    "accepted: balanced, hot-experts, hot-rank, spread-hot, ragged, idle-rank (W0 to W5), "
    "lognormal:SIGMA, zipf:S, maxvio:X or trace:FILE";

}  // namespace

int parse_int(const std::string& text, int lowest, int highest, std::string_view or_word) {
  long long value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < lowest || value > highest)
    throw UsageError(fmt::format("{} is not accepted; accepted: a whole number from {} to {}{}{}",
                                 quote(text), lowest, highest, or_word.empty() ? "" : ", or ",
                                 or_word));
  return static_cast<int>(value);
}

double parse_number(const std::string& text, double lowest) {
  const auto value = number_of(text);
  if (!value || *value < lowest)
    throw UsageError(
        fmt::format("{} is not accepted; accepted: a number from {} on", quote(text), lowest));
  return *value;
}

std::size_t parse_size(const std::string& text) {
  constexpr std::size_t most = 9'000'000'000'000'000'000U;
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
  const std::size_t scale = std::size_t{1} << (prefix == std::string::npos ? 0 : 10 * (prefix + 1));
  // A double has the fraction of a size, but not every whole number, nor the same one in every
  // rounding mode. A power of two as a factor is exact.
  const double bytes = value * static_cast<double>(scale);
  if (error != std::errc() || !known || !(bytes >= 0) || bytes > static_cast<double>(most))
    throw UsageError(
        fmt::format("{} is not a size; accepted: bytes with an optional K, M, G or T (binary), "
                    "for example 64M",
                    quote(text)));
  std::size_t whole = 0;
  if (std::from_chars(text.data(), end, whole).ptr == stop) return whole * scale;
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
  if (std::any_of(items.begin(), items.end(), [](const auto& item) { return item.empty(); }))
    throw UsageError(
        fmt::format("{} has an empty item; accepted: a comma list without gaps", quote(text)));
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
  if (colon == std::string::npos)
    throw UsageError(
        fmt::format("{} has no colon; accepted: SIZE:{}, for example 64M:1.5", quote(text), unit));
  const std::size_t second = text.find(':', colon + 1);
  SizeLimit limit{parse_size(text.substr(0, colon)),
                  parse_number(text.substr(colon + 1, second - colon - 1), 0)};
  if (second == std::string::npos) return limit;
  const std::string times = text.substr(second + 1);
  if (times != "out_of_place" && times != "in_place")
    throw UsageError(unknown_name("placement", times, {"out_of_place", "in_place"}) +
                     "; without one both are meant");
  limit.times = times == "in_place" ? Placements::in_place : Placements::out_of_place;
  return limit;
}

std::vector<std::size_t> parse_tensors(const std::string& text) {
  constexpr std::string_view uniform = "uniform:";
  constexpr int most = 1 << 20;
  if (text == "resnet50") return resnet50();
  if (text == "llama-block") return llama_block();
  if (text.starts_with(uniform)) {
    const int number = parse_int(text.substr(uniform.size()), 1, most);
    return std::vector<std::size_t>(static_cast<std::size_t>(number), 1);
  }
  throw UsageError(unknown_name("list", text, {"resnet50", "llama-block", "uniform:N"}));
}

std::vector<std::size_t> scaled(const std::vector<std::size_t>& tensors, std::size_t count) {
  const std::size_t all = std::accumulate(tensors.begin(), tensors.end(), std::size_t{0});
  std::vector<std::size_t> result;
  for (const std::size_t elements : tensors)  // count * elements / all without its overflow
    result.push_back(count / all * elements + count % all * elements / all);
  return result;
}

RoutingRule parse_routing(const std::string& text) {
  if (text.starts_with(trace_prefix)) return {RoutingKind::trace, 0, {}};
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  for (const RuleName& rule : rule_names) {
    if (name != rule.name && (name != rule.alias || rule.alias.empty())) continue;
    if ((colon == std::string::npos) != (rule.most == 0)) break;
    if (rule.most == 0) return {rule.kind, 0, {}};
    const double value = parse_number(text.substr(colon + 1), 0);
    if (value <= rule.most) return {rule.kind, value, {}};
    throw UsageError(
        fmt::format("{}: {} is too large; accepted: 0 to {}", rule.name, value, rule.most));
  }
  if (name == "W6" || name == "W7")
    throw UsageError(fmt::format("{} changes from step to step, and a row repeats one step; {}",
                                 name, accepted_routings));
  throw UsageError(fmt::format("unknown routing {}; {}", quote(text), accepted_routings));
}

std::string trace_file_of(std::string_view text) {
  return text.starts_with(trace_prefix) ? std::string(text.substr(trace_prefix.size())) : "";
}

std::vector<std::vector<int>> parse_trace(const std::string& text, const std::string& file) {
  std::vector<std::vector<int>> tokens;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.resize(std::min(line.find('#'), line.size()));
    std::replace(line.begin(), line.end(), ',', ' ');
    std::vector<int> experts;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      try {
        experts.push_back(parse_int(word, 0, max_int));
      } catch (const UsageError& e) {
        throw UsageError(fmt::format("{}:{}: {}", file, number, e.what()));
      }
      if (std::count(experts.begin(), experts.end(), experts.back()) > 1)
        throw UsageError(fmt::format("{}:{}: expert {} stands twice", file, number, word));
    }
    if (!experts.empty()) tokens.push_back(std::move(experts));
  }
  if (tokens.empty())
    throw UsageError(fmt::format("{} has no token; accepted: a line of experts for each", file));
  return tokens;
}

std::string parse_name(const std::string& text, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), text) == names.end())
    throw UsageError(unknown_name("name", text, names));
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
  return [=](const std::string& text) { return parse_int(text, lowest, highest); };
}
Parser<double> at_least(double lowest) {
  return {[=](const std::string& text) { return parse_number(text, lowest); }};
}
Parser<double> above_0() {
  return {[](const std::string& text) {
    const auto value = number_of(text);
    if (value && *value > 0) return *value;
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
  return [](const std::string& text) { return parse_int(text, 0, 1) == 1; };
}
Parser<std::string> one_of(const std::vector<std::string>& names) {
  return [names](const std::string& text) { return parse_name(text, names); };
}
Parser<std::string> any_text() {
  return [](const std::string& text) { return text; };
}

}  // namespace ccl_tests
