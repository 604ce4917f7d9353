// all_reduce_dict_perf: the tensors of equal keys are reduced over all ranks, in one operation.
// Every rank lists its keys in another order.
#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"
#include "collectives/dictionary.hpp"
#include "src/primitives/agreement.hpp"
#include "src/primitives/dictionaries.hpp"

namespace ccl::collectives {
namespace {

class AllReduceDict : public OnGroup {
 public:
  AllReduceDict(Bootstrap& bootstrap, Communicator& communicator, const Shape& shape, DataType type)
      : OnGroup(bootstrap, communicator), dictionary_(shape, type) {}
  void check() override { primitives::check_dictionary(group(), dictionary_.on(nullptr)); }
  void run(const Call& call) override {
    copy_input(call, dictionary_.bytes());
    primitives::all_reduce_dict(group(), dictionary_.on(call.recv), call.op);
  }

 private:
  Dictionary dictionary_;
};

}  // namespace

const Collective all_reduce_dict = {
    .name = "all_reduce_dict",
    .reduces = true,
    .layout = [](const Shape& s) { return replaced(s, sum(entry_counts(s))); },
    .expected =
        [](const Shape& s) {
          return std::vector<Segment>{{.out = 0, .count = sum(entry_counts(s))}};
        },
    .bus_factor = reduced_and_gathered,
    .takes = {.skew = true, .objects = true},
    .compose = compose<AllReduceDict>,
    .scratch = [](const Shape& s) { return s.count * s.type_bytes; },
};

}  // namespace ccl::collectives
