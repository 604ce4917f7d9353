#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/report/exports/prometheus.hpp"
#include "src/report/writers.hpp"

namespace ccl_tests {
namespace {

struct Format {
  std::string_view suffix;
  std::unique_ptr<Reporter> (*reporter)(OutputFile);
};

// The first one that a name ends with is meant.
constexpr std::array<Format, 7> formats{{{".jsonl", json_lines_reporter},
                                         {".gbench.json", google_benchmark_reporter},
                                         {".bmf.json", bencher_reporter},
                                         {".json", nccl_json_reporter},
                                         {".csv", csv_reporter},
                                         {".xml", junit_reporter},
                                         {".md", markdown_reporter}}};

bool ends_with(std::string_view path, std::string_view suffix) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == b; };
  return path.size() >= suffix.size() &&
         std::equal(suffix.begin(), suffix.end(),
                    path.end() - static_cast<std::ptrdiff_t>(suffix.size()), [&](char s, char p) {
                      return same(static_cast<unsigned char>(p), static_cast<unsigned char>(s));
                    });
}

}  // namespace

std::unique_ptr<Reporter> file_reporter(const std::string& path, std::string* opened) {
  if (ends_with(path, ".prom")) {
    if (opened != nullptr) *opened = path;
    return prometheus_reporter(path);
  }
  for (const Format& format : formats) {
    if (!ends_with(path, format.suffix)) continue;
    OutputFile file = OutputFile::create(path, format.suffix);
    if (opened != nullptr) *opened = file.path();
    return format.reporter(std::move(file));
  }
  throw UsageError(fmt::format("cannot write results to {}: the name must end in {}",
                               quote(path, shown_path_characters), accepted_suffixes));
}

}  // namespace ccl_tests
