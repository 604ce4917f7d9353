// reduce_dict_perf: the tensors of equal keys are reduced to rank 0, in one operation, and averaged
// there. Every rank lists its keys in another order.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "collectives/dictionary.hpp"
#include "src/primitives/agreement.hpp"
#include "src/primitives/dictionaries.hpp"

namespace ccl::collectives {
namespace {

constexpr std::array<ReduceOp, 2> ops = {ReduceOp::avg, ReduceOp::sum};

class ReduceDict : public OnGroup {
 public:
  ReduceDict(Bootstrap& bootstrap, Communicator& communicator, const Shape& shape, DataType type)
      : OnGroup(bootstrap, communicator), dictionary_(shape, type) {}
  void check() override { primitives::check_dictionary(group(), dictionary_.on(nullptr)); }
  void run(const Call& call) override {
    copy_input(call, dictionary_.bytes());
    primitives::reduce_dict(group(), dictionary_.on(call.recv), call.op == ReduceOp::avg);
  }

 private:
  Dictionary dictionary_;
};

}  // namespace

const Collective reduce_dict = {
    .name = "reduce_dict",
    .reduces = true,
    .layout = [](const Shape& s) { return replaced(s, sum(entry_counts(s))); },
    .expected =
        [](const Shape& s) {
          if (!is_root(s)) return std::vector<Segment>{};
          return std::vector<Segment>{{.out = 0, .count = sum(entry_counts(s))}};
        },
    .bus_factor = whole,
    .takes = {.skew = true, .objects = true},
    .ops = ops,
    .compose = compose<ReduceDict>,
    .scratch = [](const Shape& s) { return 2 * s.count * s.type_bytes; },
};

}  // namespace ccl::collectives
