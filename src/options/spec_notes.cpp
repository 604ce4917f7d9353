#include "src/options/spec_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <utility>

#include "src/options/flags.hpp"

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

struct SpecText {
  std::string label;  // for the files, "skew linear"
  std::string note;   // a line of the header
};

// Returns the texts of the settings that the program takes.
std::vector<SpecText> spec_texts(const Collective& collective, const CollectiveOptions& o) {
  const AcceptedFlags taken = taken_by(collective);
  std::vector<SpecText> all;
  if (taken.skew.empty()) {
    const std::string skew(skew_names[static_cast<std::size_t>(o.skew)]);
    const char* const what = taken.objects.empty() ? "objects" : "ranks' blocks";
    all.push_back({"skew " + skew, fmt::format("lengths of the {}: {}", what, skew)});
  }
  if (taken.objects.empty())
    all.push_back({fmt::format("{} objects", o.objects),
                   fmt::format("objects, items or keys: {}", o.objects)});
  if (taken.tensors.empty()) all.push_back({"tensors " + o.tensors_name, tensor_note(o.tensors)});
  if (taken.buckets.empty())
    all.push_back({fmt::format("buckets of {} MiB", o.bucket_mib), bucket_note(o.bucket_mib)});
  if (taken.async_operations.empty())
    all.push_back({o.async_operations ? "async" : "no async",
                   o.async_operations ? "operations: all started, then waited for"
                                      : "operations: each waited for before the next is started"});
  if (taken.via.empty())
    all.push_back({o.via_files ? "via cpu" : "via gpu",
                   o.via_files ? fmt::format("via files in a folder of {}", o.shared_dir)
                               : "via all_gather_object"});
  return all;
}

}  // namespace

std::vector<std::string> spec_notes(const Collective& collective,
                                    const CollectiveOptions& options) {
  std::vector<std::string> lines;
  for (SpecText& text : spec_texts(collective, options)) lines.push_back(std::move(text.note));
  if (collective.domain.fixed_bytes.value_or(0) > 0)
    lines.push_back(fmt::format("size: {} B, fixed", *collective.domain.fixed_bytes));
  if (collective.needs.step_times)
    lines.emplace_back(
        "steps: sizes (collectives that tell lengths), payload (collectives that carry data), "
        "packing (copies of one rank alone)");
  return lines;
}

std::string spec_label(const Collective& collective, const CollectiveOptions& options) {
  std::vector<std::string> words;
  for (SpecText& text : spec_texts(collective, options)) words.push_back(std::move(text.label));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace ccl_tests
