// gloo::allreduce of floats in a loop between two processes of one machine, as Gloo's examples
// connect them: gloo_loop RANK RANKS FOLDER BYTES SECONDS BEFORE [reuse]. BEFORE: bytes of one call before
// the loop, as a program makes that goes over many sizes. Each call has options of its own, as those
// of torch.distributed have; reuse: all calls have the same, as in Gloo's benchmark. Contains nothing of the
// suite.
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#include "tests/bench/independent/stamps.hpp"

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char** argv) {
  if (argc != 7 && argc != 8) return 2;
  const int rank = std::atoi(argv[1]);
  const int ranks = std::atoi(argv[2]);
  const std::size_t bytes = std::strtoull(argv[4], nullptr, 10);
  const double seconds = std::atof(argv[5]);
  const std::size_t before = std::strtoull(argv[6], nullptr, 10);
  gloo::rendezvous::FileStore store(argv[3]);
  auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  context->connectFullMesh(store, device);
  float* const send = floats_at_page(std::max(bytes, before), 1);
  float* const recv = floats_at_page(std::max(bytes, before), 0);
  const auto set = [&](gloo::AllreduceOptions& options, std::size_t size) {
    const std::size_t count = size / sizeof(float);
    options.setInput(send, count);
    options.setOutput(recv, count);
    options.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
  };
  if (before > 0) {
    gloo::AllreduceOptions first(context);
    set(first, before);
    gloo::allreduce(first);
  }
  gloo::AllreduceOptions same(context);
  set(same, bytes);
  const bool reuses = argc == 8;
  const auto call = [&] {
    if (reuses) return gloo::allreduce(same);
    gloo::AllreduceOptions options(context);
    set(options, bytes);
    gloo::allreduce(options);
  };
  const auto agree = [&](double value) {
    gloo::BroadcastOptions one(context);
    one.setOutput(&value, 1);
    one.setRoot(0);
    gloo::broadcast(one);
    return value;
  };
  double took = 0;
  int trial = 1;
  for (; took < 0.1; trial *= 2) {
    const double start = now();
    for (int k = 0; k < trial; ++k) call();
    took = agree(now() - start);
  }
  const double each = took / (trial / 2);
  int calls = 1;
  while (each * calls < 40e-6) calls *= 2;
  const auto stamps = static_cast<std::size_t>(seconds / (each * calls)) + 1;
  std::vector<double> readings(stamps + 1);
  for (int k = 0; k < 10; ++k) call();
  readings[0] = now();
  for (std::size_t i = 1; i <= stamps; ++i) {
    for (int k = 0; k < calls; ++k) call();
    readings[i] = now();
  }
  if (rank == 0) print_stamps("gloo", bytes, readings, calls);
  gloo::BarrierOptions end(context);
  gloo::barrier(end);
  std::free(send);
  std::free(recv);
}
