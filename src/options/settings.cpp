#include "src/options/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "src/options/spec_notes.hpp"

namespace ccl_tests {
namespace {

template <class T>
std::string names(const std::vector<T>& values) {
  std::vector<std::string_view> result;
  for (const T value : values) result.push_back(name(value));
  return fmt::format("{}", fmt::join(result, ","));
}

std::string pairs(const Pairing& pairing) {
  if (pairing.all) return "all";
  std::vector<std::string> result;
  for (const RankPair& pair : pairing.list) result.push_back(name(pair));
  return fmt::format("{}", fmt::join(result, ","));
}

std::string own_options(const BackendOptions& options) {
  std::vector<std::string> result;
  for (const auto& [key, value] : options.own) result.push_back(key + '=' + value);
  return fmt::format("{}", fmt::join(result, ","));
}

std::string limits(const std::vector<SizeLimit>& all) {
  std::vector<std::string> result;
  for (const SizeLimit& l : all) result.push_back(fmt::format("{}:{}", l.bytes, l.value));
  return fmt::format("{}", fmt::join(result, ","));
}

}  // namespace

std::vector<NamedValue> shared_settings(const Collective& collective, const Options& o) {
  std::vector<NamedValue> terms = {
      {"the program", std::string(collective.name)},
      {"--mode", std::string(collective.mode)},
      {"-d", names(o.types)},
      {"-o", names(o.ops)},
      {"-r", o.all_roots ? "all" : fmt::format("{}", fmt::join(o.roots, ","))},
      {"--group", o.grouping.text},
      {"--group-rows", fmt::format("{:d}", o.group_rows)},
      {"--pairs", pairs(o.pairing)},
      {"--concurrent", fmt::format("{:d}", o.concurrent)},
      {"-n", fmt::format("{}", o.iterations)},
      {"-m", fmt::format("{}", o.aggregate)},
      {"-w", fmt::format("{}", o.warmup)},
      {"-N", fmt::format("{}", o.cycles)},
      {"-c", fmt::format("{}", o.check)},
      {"-a", fmt::format("{}", o.average)},
      {"-C", fmt::format("{:d}", o.cpu_time)},
      {"-z", fmt::format("{}", o.blocking)},
      {"-u", fmt::format("{}", o.unalign)},
      {"--row-time", fmt::format("{}", o.row_time_s)},
      {"--seed", fmt::format("{}", o.seed)},
      {"--min-busbw", limits(o.min_busbw)},
      {"--max-time", limits(o.max_time)},
      {"NCCL_TESTS_MIN_BW", o.min_average_busbw ? fmt::format("{}", *o.min_average_busbw) : ""},
      {"--gloo-algorithm", o.backend_options.gloo_algorithm},
      {"--backend-option", own_options(o.backend_options)},
      {"--transport", o.backend_options.transport},
      {"--memory", o.memory ? std::string(name(*o.memory)) : ""},
      {"-G", fmt::format("{}", o.graph_launches)},
      {"-I", fmt::format("{:d}", o.per_iteration)},
      {"-K", fmt::format("{}", o.per_iteration_skip)},
      {"-M", fmt::format("{:d}", o.memory_report)},
      {"-R", fmt::format("{}", o.backend_options.local_register)},
      {"-x", fmt::format("{}", o.backend_options.cta_policy)},
      {"-y", fmt::format("{:d}", o.backend_options.null_stream)},
      {"--share-gpus", fmt::format("{:d}", o.backend_options.share_devices)},
      {"--show-algorithm", fmt::format("{:d}", o.backend_options.show_algorithm)},
  };
  if (o.sizes.empty()) {
    terms.push_back({"-b", fmt::format("{}", o.min_bytes)});
    terms.push_back({"-e", fmt::format("{}", o.max_bytes)});
    terms.push_back({"-i", fmt::format("{}", o.step_bytes)});
    terms.push_back({"-f", fmt::format("{}", o.step_factor)});
  } else {
    terms.push_back({"--sizes", fmt::format("{}", fmt::join(o.sizes, ","))});
  }
  for (SpecSetting& setting : spec_settings(collective, o.spec))
    terms.push_back(std::move(setting.term));
  for (NamedValue& term : terms) {
    if (term.value.empty()) term.value = "not given";
  }
  return terms;
}

}  // namespace ccl_tests
