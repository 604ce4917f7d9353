// all_reduce_params_perf: every tensor of a list is reduced over all ranks; tensors travel together
// in buckets.
#include <cstdint>

#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "src/primitives/agreement.hpp"
#include "src/primitives/tensors.hpp"

namespace ccl::collectives {
namespace {

class AllReduceParams : public OnGroup {
 public:
  AllReduceParams(Bootstrap& bootstrap, Communicator& communicator, const Shape& shape,
                  DataType type)
      : OnGroup(bootstrap, communicator),
        tensors_(tensor_counts(shape), type),
        bucket_mib_(shape.options.bucket_mib) {}
  void check() override { primitives::check_tensors(group(), tensors_.on(nullptr)); }
  void run(const Call& call) override {
    copy_input(call, tensors_.bytes());
    primitives::all_reduce_params(group(), tensors_.on(call.recv), bucket_mib_ != 0, bucket_bytes(),
                                  call.op);
  }

 private:
  // -1: no limit.
  std::int64_t bucket_bytes() const {
    constexpr double mib = 1 << 20;
    constexpr double most = 1e18;
    if (bucket_mib_ < 0) return -1;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(bucket_mib_ * mib, most)));
  }

  TensorList tensors_;
  double bucket_mib_;
};

}  // namespace

const Collective all_reduce_params = {
    .name = "all_reduce_params",
    .reduces = true,
    .layout = replaced_tensors,
    .expected = all_reduced_tensors,
    .bus_factor = reduced_and_gathered,
    .takes = {.tensors = true, .buckets = true},
    .compose = compose<AllReduceParams>,
    .scratch = [](const Shape& s) { return s.count * s.type_bytes; },
};

}  // namespace ccl::collectives
