#include "src/backends/gloo/vector_collectives.hpp"

#include <gloo/allgatherv.h>
#include <gloo/alltoallv.h>

#include <cstdint>
#include <vector>

#include "src/backends/gloo/width.hpp"

namespace ccl::gloo_module {

bool adjacent(std::span<const std::size_t> counts, std::span<const std::size_t> offsets) {
  std::size_t next = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (offsets[r] != next) return false;
    next += counts[r];
  }
  return true;
}

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
  by_width(call, [&]<class U>() {
    gloo::AlltoallvOptions options(context);
    options.setInput(elements<U>(call.send),
                     std::vector<std::int64_t>(call.send_counts.begin(), call.send_counts.end()));
    options.setOutput(elements<U>(call.recv),
                      std::vector<std::int64_t>(call.recv_counts.begin(), call.recv_counts.end()));
    options.setTimeout(limit);
    gloo::alltoallv(options);
  });
}

}  // namespace ccl::gloo_module
