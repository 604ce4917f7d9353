// Strict values of flags and variables. All throw UsageError saying what was given and what would
// be accepted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/routing.hpp"
#include "src/core/types.hpp"
#include "src/options/row_options.hpp"

namespace ccl_tests {

inline constexpr int max_int = std::numeric_limits<int>::max();

// Reads "8", "8B", "1K", "1.5G", "64MiB", "1e6": binary units. Below 1 KiB a size is whole bytes; of larger ones what is
// over whole bytes is left out.
std::size_t parse_size(const std::string& text);
// Reads a comma list of sizes; "odd" stands for odd_sizes().
std::vector<std::size_t> parse_sizes(const std::string& list);
// Returns sizes in bytes that look for faults: one element of 8 bytes, primes of them, and one more and one less than
// powers of two, up to 16 MiB. Each is a whole number of elements of every type.
std::vector<std::size_t> odd_sizes();
// or_word: what else the caller reads, for the message; empty: nothing.
int parse_int(const std::string& text, int lowest, int highest, std::string_view or_word = {});
double parse_number(const std::string& text, double lowest);   // finite, decimal
std::vector<std::string> split_list(const std::string& text);  // by commas; no empty items
// Names, a comma list, or "all"; fp16, bf16, fp32 and fp64 are read as half, bfloat16, float and double.
std::vector<DataType> parse_types(const std::string& text);
std::vector<ReduceOp> parse_ops(const std::string& text);
SizeLimit parse_limit(const std::string& text, std::string_view unit);  // "64M:1.5:in_place"
// Returns the elements of each parameter of a model, in the order in which the model defines them.
// "resnet50": the 161 of torchvision's (He et al. 2015; 25 557 032 elements); "llama-block": the 9 of
// one block of LLaMA 7B (Touvron et al. 2023: width 4096, inner width 11008; 202 383 360 elements);
// "uniform:N": N equal ones of one element.
std::vector<std::size_t> parse_tensors(const std::string& text);
// Returns a message of `count` elements divided in these proportions; with count their sum, exactly
// they.
std::vector<std::size_t> scaled(const std::vector<std::size_t>& tensors, std::size_t count);
// Reads "balanced", "W3", "zipf:1.2". "trace:FILE" leaves the trace empty.
RoutingRule parse_routing(const std::string& text);
// Returns the file of "trace:FILE", or an empty string.
std::string trace_file_of(std::string_view text);
// Reads a line for each token: its experts, divided by spaces or commas; # begins a comment.
std::vector<std::vector<int>> parse_trace(const std::string& text, const std::string& file);
std::string parse_name(const std::string& text, const std::vector<std::string>& names);
std::string parse_file(const std::string& text);  // any name but the empty one

// Writes a size as parse_size reads it, in the largest unit that divides it: "64M".
std::string size_text(std::size_t bytes);

// The parsers of declarations.
template <class T>
using Parser = std::function<T(const std::string&)>;
Parser<int> in_range(int lowest, int highest);
Parser<double> at_least(double lowest);
Parser<double> above_0();
Parser<double> percent(double least, double most);  // "2" or "2%" is 0.02
Parser<double> duration();  // seconds above 0 from "90", "90s", "15m", "1.5h"
Parser<bool> zero_or_one();
Parser<std::string> one_of(const std::vector<std::string>& names);
template <class Values>
std::vector<std::string> all_names(const Values& values) {
  std::vector<std::string> names;
  for (const auto& value : values) names.emplace_back(name(value));
  return names;
}
template <class Enum>
Parser<Enum> name_of(const std::vector<Enum>& some) {
  const std::vector<std::string> names = all_names(some);
  return [some, names](const std::string& text) {
    const auto at = std::find(names.begin(), names.end(), parse_name(text, names)) - names.begin();
    return some[static_cast<std::size_t>(at)];
  };
}
Parser<std::string> any_text();

}  // namespace ccl_tests
