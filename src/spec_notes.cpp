#include "src/spec_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

namespace ccl {
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

std::vector<std::string> spec_notes(const Collective& collective, const SpecOptions& options) {
  const Takes& takes = collective.takes;
  std::vector<std::string> lines;
  if (takes.skew)
    lines.push_back(fmt::format("lengths of the {}: {}",
                                takes.objects ? "objects" : "ranks' blocks",
                                skew_names[static_cast<std::size_t>(options.skew)]));
  if (takes.objects) lines.push_back(fmt::format("objects, items or keys: {}", options.objects));
  if (takes.tensors) lines.push_back(tensor_note(options.tensors));
  if (takes.buckets) lines.push_back(bucket_note(options.bucket_mib));
  if (takes.in_flight)
    lines.emplace_back(options.in_flight
                           ? "operations: all started, then waited for"
                           : "operations: each waited for before the next is started");
  if (takes.via)
    lines.push_back(options.via_files
                        ? fmt::format("via files in a folder of {}", options.shared_dir)
                        : "via all_gather_object");
  if (collective.compose != nullptr)
    lines.emplace_back(
        "steps: sizes (collectives that tell lengths), payload (collectives that carry data), "
        "packing (copies of one rank alone)");
  return lines;
}

std::string spec_label(const Collective& collective, const SpecOptions& options) {
  const Takes& takes = collective.takes;
  std::vector<std::string> words;
  if (takes.skew)
    words.push_back(fmt::format("skew {}", skew_names[static_cast<std::size_t>(options.skew)]));
  if (takes.objects) words.push_back(fmt::format("{} objects", options.objects));
  if (takes.tensors) words.push_back(fmt::format("tensors {}", options.tensors_name));
  if (takes.buckets) words.push_back(fmt::format("buckets of {} MiB", options.bucket_mib));
  if (takes.in_flight) words.emplace_back(options.in_flight ? "async" : "no async");
  if (takes.via) words.emplace_back(options.via_files ? "via cpu" : "via gpu");
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace ccl
