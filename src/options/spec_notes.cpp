#include "src/options/spec_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <utility>

namespace ccl_tests {
namespace {

std::string bucket_note(double mib) {
  if (mib == 0) return "buckets: none, every tensor is an operation of its own";
  if (mib < 0) return "buckets: one for all tensors";
  return fmt::format("buckets: up to {} MiB of tensors are one operation", mib);
}

std::string tensor_note(const std::vector<std::size_t>& tensors) {
  const std::size_t all = std::accumulate(tensors.begin(), tensors.end(), std::size_t{0});
  if (all == tensors.size()) return fmt::format("tensors: {} of equal length", tensors.size());
  return fmt::format("tensors: {}, in the proportions of a model of {} elements", tensors.size(),
                     all);
}

}  // namespace

std::vector<SpecSetting> spec_settings(const Collective& collective, const CollectiveOptions& o) {
  const CollectiveFlags& takes = collective.flags;
  std::vector<SpecSetting> all;
  const auto add = [&](std::string name, std::string value, std::string label = {},
                       std::string note = {}) {
    all.push_back({{std::move(name), std::move(value)}, std::move(label), std::move(note)});
  };
  if (takes.skew) {
    const std::string skew(skew_names[static_cast<std::size_t>(o.skew)]);
    add("--skew", skew, "skew " + skew,
        fmt::format("lengths of the {}: {}", takes.objects ? "objects" : "ranks' blocks", skew));
  }
  if (takes.objects)
    add("--objects", fmt::format("{}", o.objects), fmt::format("{} objects", o.objects),
        fmt::format("objects, items or keys: {}", o.objects));
  if (takes.tensors)
    add("--tensors", o.tensors_name, "tensors " + o.tensors_name, tensor_note(o.tensors));
  if (takes.buckets)
    add("--bucket-mb", fmt::format("{}", o.bucket_mib),
        fmt::format("buckets of {} MiB", o.bucket_mib), bucket_note(o.bucket_mib));
  if (takes.async_operations)
    add("--no-async", o.async_operations ? "not given" : "given",
        o.async_operations ? "async" : "no async",
        o.async_operations ? "operations: all started, then waited for"
                           : "operations: each waited for before the next is started");
  if (takes.via)
    add("--via", o.via_files ? "cpu" : "gpu", o.via_files ? "via cpu" : "via gpu",
        o.via_files ? fmt::format("via files in a folder of {}", o.shared_dir)
                    : "via all_gather_object");
  if (collective.domain.paired) {
    add("--window", fmt::format("{}", o.window));
    add("--bidirectional", fmt::format("{:d}", o.bidirectional));
  }
  if (takes.block_matrix) {
    add("NCCL_TESTS_ALLTOALLV_SPREAD", fmt::format("{}", o.alltoallv_spread));
    add("NCCL_TESTS_ALLTOALLV_MATRIX_FILE", fmt::format("{}", o.alltoallv_bytes));
  }
  return all;
}

std::vector<std::string> spec_notes(const Collective& collective,
                                    const CollectiveOptions& options) {
  std::vector<std::string> lines;
  for (SpecSetting& setting : spec_settings(collective, options)) {
    if (!setting.note.empty()) lines.push_back(std::move(setting.note));
  }
  if (collective.domain.fixed_bytes.value_or(0) > 0)
    lines.push_back(
        fmt::format("size: {} B, whatever -b, -e and --sizes say", *collective.domain.fixed_bytes));
  if (collective.needs.step_times)
    lines.emplace_back(
        "steps: sizes (collectives that tell lengths), payload (collectives that carry data), "
        "packing (copies of one rank alone)");
  return lines;
}

std::string spec_label(const Collective& collective, const CollectiveOptions& options) {
  std::vector<std::string> words;
  for (SpecSetting& setting : spec_settings(collective, options)) {
    if (!setting.label.empty()) words.push_back(std::move(setting.label));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace ccl_tests
