#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/report/reporter.hpp"

namespace ccl_tests {
namespace {

struct Format {
  std::string_view suffix, name;
  std::unique_ptr<Reporter> (*reporter)(OutputFile);  // null: the file is replaced
  bool number_last = false;  // of a name that is taken: nccl-tests' x.json.0, not x.0.json
};

// The first one that a path ends with is meant.
constexpr std::array<Format, 8> formats{
    {{".jsonl", "JSON Lines", json_lines_reporter},
     {".gbench.json", "Google Benchmark", google_benchmark_reporter},
     {".bmf.json", "Bencher", bencher_reporter},
     {".json", "JSON", nccl_json_reporter, true},
     {".csv", "CSV", csv_reporter},
     {".xml", "JUnit", junit_reporter},
     {".md", "Markdown", markdown_reporter},
     {".prom", "Prometheus", nullptr}}};

// Null: none has the suffix.
const Format* format_of(std::string_view path) {
  std::string name(path);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* found = std::find_if(formats.begin(), formats.end(), [&](const Format& format) {
    return name.ends_with(format.suffix);
  });
  return found == formats.end() ? nullptr : found;
}

// "x.json" of "x.json.0".
std::string_view without_number(std::string_view path) {
  const std::size_t end = path.find_last_not_of("0123456789");
  const bool numbered = end != std::string_view::npos && end + 1 < path.size() && path[end] == '.';
  return numbered ? path.substr(0, end) : path;
}

}  // namespace

std::string_view file_format(std::string_view path) {
  const Format* const format = format_of(without_number(path));
  return format != nullptr ? format->name : "";
}

bool replaces_file(std::string_view path) {
  const Format* const format = format_of(path);
  return format != nullptr && format->reporter == nullptr;
}

std::unique_ptr<Reporter> file_reporter(const std::string& path) {
  const Format* const format = format_of(path);
  if (const std::string advice = piping_advice(path); !advice.empty() || format == nullptr)
    throw UsageError(fmt::format(
        "cannot write results to {}: {}", quote(path, shown_path_characters),
        advice.empty() ? fmt::format("the name must end in {}", accepted_suffixes) : advice));
  if (format->reporter == nullptr) return prometheus_reporter(path);
  return format->reporter(OutputFile::create(path, format->number_last ? "" : format->suffix));
}

}  // namespace ccl_tests
