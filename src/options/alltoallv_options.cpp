#include "src/options/alltoallv_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

constexpr const char* spread_variable = "NCCL_TESTS_ALLTOALLV_SPREAD";
constexpr const char* file_variable = "NCCL_TESTS_ALLTOALLV_MATRIX_FILE";
constexpr const char* summary_variable = "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY";
constexpr const char* scale_variable = "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE";

double number(const GetVariable& environment, const char* variable, double otherwise,
              double highest) {
  const auto text = environment(variable);
  if (!text) return otherwise;
  double value = 0;
  try {
    value = parse_number(*text, 0);
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("{}: {}", variable, e.what()));
  }
  if (value > highest)
    throw UsageError(
        fmt::format("{}: {} is too large; accepted: 0 to {}", variable, quote(*text), highest));
  return value;
}

// Rounded down to 16, as nccl-tests aligns them.
std::size_t block_bytes(const std::string& word, double scale) {
  constexpr double most = 1e15;
  double bytes = most;
  try {
    bytes = parse_number(word, 0) * scale;
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("{}: {}", file_variable, e.what()));
  }
  if (bytes >= most) {
    throw UsageError(fmt::format("{}: {} x {} is too large; accepted: blocks below {} bytes",
                                 file_variable, quote(word), scale, most));
  }
  return static_cast<std::size_t>(bytes) / 16 * 16;
}

// A device or a pipe need not end.
void require_readable(const std::string& path) {
  constexpr std::uintmax_t most = 64 << 20;
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return;  // opening it says why
  const bool is_file = std::filesystem::is_regular_file(status);
  if (is_file && std::filesystem::file_size(path, error) <= most) return;
  throw UsageError(fmt::format("{}: {} is {}; accepted: a file of up to {}", file_variable,
                               quote(path, shown_path_characters),
                               is_file ? "too large" : "not a regular file", size_text(most)));
}

std::vector<std::vector<std::size_t>> read_matrix(const std::string& path, double scale) {
  require_readable(path);
  std::ifstream file(path);
  if (!file)
    throw UsageError(fmt::format("{}: cannot read {}; accepted: a readable file", file_variable,
                                 quote(path, shown_path_characters)));
  std::vector<std::vector<std::size_t>> matrix;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::vector<std::size_t> row;
    for (std::string word; words >> word;) {
      row.push_back(block_bytes(word, scale));
    }
    if (!row.empty()) matrix.push_back(std::move(row));
  }
  for (const auto& row : matrix) {
    if (row.size() == matrix.size()) continue;
    throw UsageError(fmt::format(
        "{}: {} is not square ({} rows, one of {} numbers); accepted: a square matrix of bytes",
        file_variable, quote(path, shown_path_characters), matrix.size(), row.size()));
  }
  if (matrix.empty())
    throw UsageError(fmt::format("{}: {} is empty; accepted: a square matrix of bytes",
                                 file_variable, quote(path, shown_path_characters)));
  return matrix;
}

}  // namespace

void read_alltoallv_options(const GetVariable& environment, CollectiveOptions& options) {
  options.alltoallv_spread = number(environment, spread_variable, 1, 1);
  const double scale = number(environment, scale_variable, 1, 1e12);
  if (const auto path = environment(file_variable))
    options.alltoallv_bytes = read_matrix(*path, scale);
  if (const auto text = environment(summary_variable)) {
    if (*text != "0" && *text != "1")
      throw UsageError(
          fmt::format("{}: {} is not accepted; accepted: 0 or 1", summary_variable, quote(*text)));
    options.alltoallv_summary = *text == "1";
  }
}

void check_matrix(const CollectiveOptions& options, int ranks) {
  const auto& matrix = options.alltoallv_bytes;
  if (matrix.empty() || matrix.size() >= static_cast<std::size_t>(ranks)) return;
  throw UsageError(fmt::format("{}: {} rows for {} ranks; accepted: at least one row per rank",
                               file_variable, matrix.size(), ranks));
}

std::vector<std::string> alltoallv_summary(const Collective& collective, const Options& options,
                                           int ranks, std::size_t bytes) {
  if (!options.spec.alltoallv_summary || !taken_by(collective).matrix.empty()) return {};
  constexpr int most_ranks = 64;
  const std::size_t width = size_of(options.sweep.types.front());
  std::vector<std::string> lines = {
      fmt::format("{}, blocks of a row of {} B, in bytes:", collective.name, bytes)};
  const auto describe = [&](const std::vector<std::size_t>& counts) {
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    std::size_t sum = 0;
    for (const std::size_t n : counts) sum += n;
    return fmt::format("{} in blocks of {} to {}", sum * width, *least * width, *most * width);
  };
  for (int rank = 0; rank < std::min(ranks, most_ranks); ++rank) {
    const Layout layout = collective.layout({bytes / width, width, {rank, ranks}, options.spec});
    lines.push_back(fmt::format("  rank {:2} sends {}, receives {}", rank,
                                describe(layout.counts->send_counts),
                                describe(layout.counts->recv_counts)));
  }
  if (ranks > most_ranks) lines.push_back(fmt::format("  ... {} more ranks", ranks - most_ranks));
  return lines;
}

}  // namespace ccl_tests
