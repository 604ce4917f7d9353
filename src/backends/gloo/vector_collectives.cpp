#include "src/backends/gloo/vector_collectives.hpp"

#include <gloo/allgatherv.h>
#include <gloo/alltoallv.h>

#include <algorithm>
#include <span>
#include <vector>

#include "src/backends/gloo/width.hpp"

namespace ccl_tests::gloo_module {

namespace {

using Elements = std::span<const std::size_t>;

// alltoallv's options with offsets: the setters of Gloo's own take adjacent blocks only.
class BlocksAnywhere : public gloo::AlltoallvOptions {
 public:
  BlocksAnywhere(const std::shared_ptr<gloo::Context>& of, const Call& call)
      : AlltoallvOptions(of) {
    elementSize = size_of(call.type);
    in = bind(call.send, call.send_counts, call.send_offsets, inLengthPerRank, inOffsetPerRank);
    out = bind(call.recv, call.recv_counts, call.recv_offsets, outLengthPerRank, outOffsetPerRank);
  }

 private:
  std::unique_ptr<gloo::transport::UnboundBuffer> bind(const void* data, Elements counts,
                                                       Elements offsets,
                                                       std::vector<std::size_t>& lengths,
                                                       std::vector<std::size_t>& begins) const {
    std::size_t end = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      lengths.push_back(counts[r] * elementSize);
      begins.push_back(offsets[r] * elementSize);
      if (counts[r] > 0) end = std::max(end, begins[r] + lengths[r]);
    }
    return context->createUnboundBuffer(const_cast<void*>(data), end);
  }
};

}  // namespace

void all_gatherv(const std::shared_ptr<gloo::Context>& context, const Call& call,
                 std::chrono::milliseconds limit) {
  by_width(call, [&]<class U>() {
    gloo::AllgathervOptions options(context);
    U* const out = elements<U>(call.recv);
    // Without an input Gloo takes this rank's block of the output.
    if (call.send != out + call.recv_offsets[static_cast<std::size_t>(context->rank)])
      options.setInput(elements<U>(call.send), call.count);
    options.setOutput(out,
                      std::vector<std::size_t>(call.recv_counts.begin(), call.recv_counts.end()));
    options.setTimeout(limit);
    gloo::allgatherv(options);
  });
}

void alltoallv(const std::shared_ptr<gloo::Context>& context, const Call& call,
               std::chrono::milliseconds limit) {
  translated([&] {
    BlocksAnywhere options(context, call);
    options.setTimeout(limit);
    gloo::alltoallv(options);
  });
}

}  // namespace ccl_tests::gloo_module
