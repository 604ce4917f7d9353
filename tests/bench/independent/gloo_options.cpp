// What it costs to make gloo::AllreduceOptions anew for each call, as the suite does, instead of once:
// gloo_options RANK RANKS FOLDER BYTES PAIRS SECONDS. Both loops take turns in one process, SECONDS each,
// over the same buffers; each pair prints the 10th percentile and the median of its calls in us,
// kept, then fresh. Contains nothing of the suite.
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const int rank = std::atoi(argv[1]);
  gloo::rendezvous::FileStore store(argv[3]);
  auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, std::atoi(argv[2]));
  context->connectFullMesh(store, device);
  const std::size_t count = std::strtoull(argv[4], nullptr, 10) / sizeof(float);
  std::vector<float> send(count, 1);
  std::vector<float> recv(count, 0);
  const auto set = [&](gloo::AllreduceOptions& options) {
    options.setInput(send.data(), count);
    options.setOutput(recv.data(), count);
    options.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    options.setTimeout(std::chrono::seconds(60));
  };
  gloo::AllreduceOptions kept(context);
  set(kept);
  const auto call = [&](bool fresh) {
    if (!fresh) return gloo::allreduce(kept);
    gloo::AllreduceOptions options(context);
    set(options);
    gloo::allreduce(options);
  };
  const auto agree = [&](int value) {
    gloo::BroadcastOptions one(context);
    one.setOutput(&value, 1);
    one.setRoot(0);
    gloo::broadcast(one);
    return value;
  };
  const double seconds = std::atof(argv[6]);
  constexpr int trial = 50;
  const double start = now();
  for (int k = 0; k < trial; ++k) call(false);
  const int calls = agree(static_cast<int>(seconds / ((now() - start) / trial)) + 20);
  std::vector<double> times(static_cast<std::size_t>(calls));
  for (int pair = 0; pair < std::atoi(argv[5]); ++pair) {
    double found[2][2];
    for (int turn = 0; turn < 2; ++turn) {
      const bool fresh = (turn == 1) != (pair % 2 == 1);
      for (int k = 0; k < 10; ++k) call(fresh);
      double last = now();
      for (double& time : times) {
        call(fresh);
        const double at = now();
        time = at - last;
        last = at;
      }
      std::sort(times.begin(), times.end());
      found[fresh ? 1 : 0][0] = times[times.size() / 10];
      found[fresh ? 1 : 0][1] = times[times.size() / 2];
    }
    if (rank == 0)
      std::printf("%.3f %.3f %.3f %.3f\n", 1e6 * found[0][0], 1e6 * found[0][1], 1e6 * found[1][0],
                  1e6 * found[1][1]);
  }
  gloo::BarrierOptions end(context);
  gloo::barrier(end);
}
