#include "src/options/spec_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

struct SpecText {
  std::string label;  // for the files, "skew linear"
  std::string note;   // a line of the header
};

// Returns the texts of the settings that the program takes.
std::vector<SpecText> spec_texts(const Collective& collective, const CollectiveOptions& o) {
  const CollectiveFlags& takes = collective.flags;
  std::vector<SpecText> all;
  if (takes.skew) {
    const std::string skew(name(o.skew));
    const char* const what = takes.objects ? "objects" : "ranks' blocks";
    all.push_back({"skew " + skew, fmt::format("lengths of the {}: {}", what, skew)});
  }
  if (takes.objects)
    all.push_back({fmt::format("{} objects", o.objects),
                   fmt::format("objects, items or keys: {}", o.objects)});
  if (takes.tensors) all.push_back({"tensors " + o.tensors_name, tensor_note(o.tensors)});
  if (takes.buckets)
    all.push_back({fmt::format("buckets of {} MiB", o.bucket_mib), bucket_note(o.bucket_mib)});
  if (takes.async_operations)
    all.push_back({o.async_operations ? "async" : "no async",
                   o.async_operations ? "operations: all started, then waited for"
                                      : "operations: each waited for before the next is started"});
  if (takes.via)
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

std::vector<std::string> alltoallv_summary(const Collective& collective, const Options& options,
                                           int ranks, std::size_t bytes) {
  if (!options.spec.alltoallv_summary || !collective.flags.block_matrix) return {};
  constexpr int most_ranks = 64;
  const std::size_t width = size_of(options.sweep.types.front());
  std::vector<std::string> lines = {
      fmt::format("{}, blocks of a row of {} B, in bytes:", collective.name, bytes)};
  const auto describe = [&](const std::vector<std::size_t>& counts) {
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    const std::size_t sum = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
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
