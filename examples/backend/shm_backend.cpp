// A backend that moves messages through shared memory. The suite composes everything else of them.
#include <algorithm>
#include <ccl-tests/backend.hpp>
#include <thread>
#include <vector>

#include "mailboxes.hpp"
#include "src/core/communicator.hpp"

using namespace ccl_tests;

class ShmCommunicator : public Communicator {
 public:
  ShmCommunicator(const std::string& name, int rank, int ranks, Mailboxes::Segment segment)
      : boxes_(name, rank, ranks, segment) {}

  // Makes all messages. This one function is enough for every program.
  void transfer(std::span<Message> messages, Deadline& deadline) override {
    while (!boxes_.progress(messages)) {
      deadline.check("shm: waiting for a peer");
      std::this_thread::yield();
    }
  }

  // Optional: everybody sends everything to everybody, which is faster for small buffers.
  void all_reduce(const Call& call) override {
    const bool scaled = call.op == ReduceOp::avg || call.op == ReduceOp::mulsum;
    if (scaled) return Communicator::all_reduce(call);  // the suite's
    const auto mine = call.send_bytes(OperationId::all_reduce);
    const auto result = call.recv_bytes(OperationId::all_reduce);
    const auto ranks = static_cast<std::size_t>(call.self.ranks);
    inputs_.resize(ranks * mine.size());
    Call gather = call;
    gather.recv = inputs_.data();
    all_gather(gather);
    const std::span all(inputs_);
    std::ranges::copy(all.first(mine.size()), result.begin());
    for (std::size_t r = 1; r < ranks; ++r)
      ccl_tests::reduce(call.op, call.type, result, all.subspan(r * mine.size(), mine.size()));
  }

  const Capabilities& capabilities() const override { return capabilities_; }

 private:
  Mailboxes boxes_;
  std::vector<std::byte> inputs_;
  Capabilities capabilities_{
      .description = {"messages through shared memory"},
      .operations = overridden<ShmCommunicator>(),
      .emulated = {{{}, ReduceOp::avg, "by the suite"}, {{}, ReduceOp::mulsum, "by the suite"}},
      .combined_by_suite = {{}}};  // ccl_tests::reduce() is the suite's
};

class ShmBackend : public Backend {
 public:
  BackendInfo info() const override {
    return {.name = "shm",
            .version = "example",
            .descriptors_per_rank = 1,
            .scratch_factor = [](int ranks) { return ranks + 3.0; }};  // all_reduce gathers
  }

  // Rank 0 creates the segment. The others learn its name, and rank 0 when all have opened it.
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    const auto open = [&](const std::string& name, Mailboxes::Segment segment) {
      return std::make_unique<ShmCommunicator>(name, channel.rank(), channel.ranks(), segment);
    };
    const bool first = channel.rank() == 0;
    std::string name = first ? Mailboxes::new_name() : "";
    auto communicator = first ? open(name, Mailboxes::Segment::create) : nullptr;
    name = channel.all_gather(name, options.init_timeout_s)[0];
    if (!first) communicator = open(name, Mailboxes::Segment::open);
    channel.all_gather("", options.init_timeout_s);
    if (first) Mailboxes::unlink(name);
    return communicator;
  }
};

CCL_TESTS_BACKEND(ShmBackend);
