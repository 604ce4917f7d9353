// collect_results_perf: rank 0 gets every rank's list of results, interleaved as a distributed
// sampler has dealt the data set out, without what the sampler added behind its end.
#include <string>

#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "src/primitives/results.hpp"

namespace ccl_tests::collectives {
namespace {

// Returns the elements of one result, the same on all ranks.
std::size_t item(const Shape& s) { return block(s) / s.options.objects; }

// Returns the number of results of the data set. The last results of the last ranks are the
// sampler's padding, unless ranks have one result each.
std::size_t results(const Shape& s) {
  const std::size_t all = s.options.objects * ranks(s);
  return s.options.objects > 1 ? all - ranks(s) / 2 : all;
}

std::size_t results_of(const Shape& s, std::size_t rank) {
  return (results(s) + ranks(s) - 1 - rank) / ranks(s);
}

Layout layout(const Shape& s) {
  const std::size_t all = results(s) * item(s);
  return {.send = s.options.objects * item(s),
          .recv = s.self.rank == 0 ? all : 0,
          .count = s.options.objects * item(s),
          .table_count = s.options.objects * item(s),
          .algbw_bytes = all * s.type_bytes};
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  std::vector<ExpectedBlock> blocks;
  for (std::size_t r = 0; s.self.rank == 0 && r < ranks(s); ++r)
    blocks.push_back({.recv_offset = r * item(s),
                      .count = item(s),
                      .source_rank = static_cast<int>(r),
                      .source_offset = 0,
                      .repeat = results_of(s, r),
                      .recv_stride = ranks(s) * item(s),
                      .source_stride = item(s)});
  return blocks;
}

// Returns the bytes of all lists, padded, and of this rank's own list before and after its padding.
std::size_t scratch(const Shape& s) { return (ranks(s) + 2) * block(s) * s.type_bytes; }

class CollectResults : public OnGroup {
 public:
  CollectResults(ControlChannel& channel, Communicator& communicator, const Shape& shape,
                 DataType /*type*/)
      : OnGroup(channel, communicator),
        room_(layout(shape).recv * shape.type_bytes),
        item_bytes_(item(shape) * shape.type_bytes),
        size_(results(shape)),
        via_files_(shape.options.via_files),
        shared_(shape.options.shared_dir),
        items_(shape.options.objects) {}
  void check() override {
    if (via_files_ && group().is_main()) primitives::remove_left_folders(shared_);
    primitives::check_results(group(), items_.size(), size_);
  }
  void run(const Call& call) override {
    const auto* at = static_cast<const std::byte*>(call.send);
    for (primitives::Bytes& result : items_) {
      result = {at, item_bytes_};
      at += item_bytes_;
    }
    if (via_files_)
      primitives::collect_results_by_files(group(), items_, size_, shared_, collected_);
    else
      primitives::collect_results(group(), items_, size_, collected_);
    if (group().is_main()) copy_out(collected_.items, call.recv, room_);
  }

 private:
  std::size_t room_;  // bytes
  std::size_t item_bytes_, size_;
  bool via_files_;
  std::string shared_;
  std::vector<primitives::Bytes> items_;
  primitives::Results collected_;
};

}  // namespace

const Collective collect_results = {
    .name = "collect_results",
    .about = "rank 0 gets all ranks' results in order",
    .flags = {.objects = true, .via = true},
    .layout = layout,
    .expected = expected,
    .bus_factor = [](const Shape& s) { return share_beyond(results_of(s, 0), results(s)); },
    .scratch = scratch,
    .make = compose<CollectResults>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
