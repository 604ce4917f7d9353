// No corruption passes: each fault, made by a backend that is otherwise right, must be found, named
// and counted for the right rank.
#include <gmock/gmock.h>

#include <cstring>
#include <thread>

#include "src/core/communicator.hpp"
#include "tests/ranks/faulty.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

using testing::HasSubstr;

std::byte* bytes_of(const Call& call) { return static_cast<std::byte*>(call.recv); }

// Out of place and in place are 1 warm-up, 1 checked and 3 timed calls each: numbers 0..4 and 5..9.
constexpr int checked_call = 1, timed_call = 3, in_place_timed_call = 8;

class Faults : public testing::TestWithParam<int> {
 protected:
  Options one_size(std::size_t bytes) const {
    Options o = quick(GetParam());
    o.sweep.sizes = {bytes};
    return o;
  }
  static void expect_found(const Outcome& outcome, int rank, const char* meaning) {
    EXPECT_EQ(outcome.exit_code, 7);
    EXPECT_EQ(outcome.summary.failed_checks, 1U);
    EXPECT_THAT(outcome.text(), HasSubstr("rank " + std::to_string(rank) + " on "));
    EXPECT_THAT(outcome.text(), HasSubstr(meaning));
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, Faults, testing::Values(1, 3, 4));
class FaultsAmongRanks : public Faults {};  // that one rank alone cannot have
INSTANTIATE_TEST_SUITE_P(Ranks, FaultsAmongRanks, testing::Values(3, 4));

TEST_P(Faults, NoneIsNoAlarm) {
  const FaultyBackend backend{Fault{}};
  for (const Collective* collective : all_collectives()) {
    if (!runs_on(*collective, GetParam())) continue;
    const Outcome outcome = run(*collective, quick(GetParam()), backend);
    EXPECT_EQ(outcome.exit_code, 0) << collective->name;
    EXPECT_EQ(outcome.text(), "") << collective->name;
  }
}

TEST_P(Faults, OneFlippedBitInACheckedCallOrATimedOneOrInPlace) {
  const int rank = GetParam() - 1;
  for (const int wrong_call : {checked_call, timed_call, in_place_timed_call}) {
    for (const std::size_t byte : {std::size_t{0}, std::size_t{20'001}, std::size_t{39'999}}) {
      Fault fault;
      fault.after = [&](int r, int number, const Call& call) {
        if (r == rank && number == wrong_call) bytes_of(call)[byte] ^= std::byte{0x10};
      };
      const Outcome outcome = run(collectives::all_reduce, one_size(40'000), FaultyBackend(fault));
      expect_found(outcome, rank, "expected 0x");
      const Measurement& cell = wrong_call == in_place_timed_call ? outcome.rows[0].in_place
                                                                  : outcome.rows[0].out_of_place;
      EXPECT_EQ(cell.wrong, 1U);
      EXPECT_EQ(cell.failed_ranks, 1U);
    }
  }
}

// Inside a composite, whose operations are numbered one by one.
TEST_P(Faults, OneFlippedBitInAnOperationOfAComposite) {
  const int rank = GetParam() - 1;
  struct Subject {
    const Collective& collective;
    int operations;  // of one call
    std::size_t byte;
  };
  const Subject subjects[] = {{collectives::all_reduce_params, 1, 20'001},
                              {collectives::all_reduce_dict, 1, 1},
                              {collectives::all_gather_object, 2, 7},
                              {collectives::broadcast_tensors, 16, 3},
                              {collectives::sync_grad, 16, 2'000}};
  for (const Subject& s : subjects) {
    Fault fault;
    fault.after = [&](int r, int number, const Call& call) {
      if (r == rank && number == s.operations * (checked_call + 1) - 1)
        bytes_of(call)[s.byte] ^= std::byte{0x40};
    };
    const Outcome outcome = run(s.collective, one_size(40'000), FaultyBackend(fault));
    EXPECT_EQ(outcome.exit_code, 7) << s.collective.name << outcome.text();
    EXPECT_EQ(outcome.rows[0].out_of_place.wrong, 1U) << s.collective.name;
  }
}

// No program delivers what this library drops, so it must not say that all is well.
TEST_P(Faults, LengthsThatCannotBe) {
  for (const std::int64_t length : {std::int64_t{-1}, std::int64_t{1} << 62, std::int64_t{0}}) {
    Fault fault;
    fault.after = [&](int, int number, const Call& call) {
      if (number != 2 * checked_call || call.type != DataType::int64) return;
      for (int r = 0; r < call.self.ranks; ++r)
        std::memcpy(bytes_of(call) + static_cast<std::size_t>(r) * sizeof length, &length,
                    sizeof length);
    };
    const Outcome outcome =
        run(collectives::all_gather_object, one_size(4096), FaultyBackend(fault));
    EXPECT_EQ(outcome.exit_code, 4) << length << outcome.text();
  }
}

TEST_P(FaultsAmongRanks, LostSumInCheckTensors) {
  for (const bool everywhere : {false, true}) {
    Fault fault;
    fault.after = [&](int rank, int number, const Call& call) {
      if ((everywhere || rank == 0) && number == checked_call + 1)
        bytes_of(call)[0] ^= std::byte{1};
    };
    const Outcome outcome = run(collectives::check_tensors, one_size(8), FaultyBackend(fault));
    EXPECT_EQ(outcome.exit_code, 4) << outcome.text();
  }
}

TEST_P(FaultsAmongRanks, SwappedBlocks) {
  Fault fault;
  fault.after = [](int rank, int number, const Call& call) {
    if (rank != 1 || number != checked_call) return;
    const std::size_t block = call.count * size_of(call.type);
    std::swap_ranges(bytes_of(call), bytes_of(call) + block, bytes_of(call) + block);
  };
  for (const Collective* collective : {&collectives::all_gather, &collectives::alltoall}) {
    const Outcome outcome = run(*collective, one_size(48'000), FaultyBackend(fault));
    expect_found(
        outcome, 1,
        collective == &collectives::all_gather ? "rank 1's data instead of rank 0's" : "data");
  }
}

TEST_P(Faults, NothingWritten) {
  Fault fault;
  fault.before = [](int rank, int number, Call&) { return rank != 0 || number != checked_call; };
  for (const std::size_t size : {std::size_t{8}, std::size_t{4096}, std::size_t{40'000}}) {
    expect_found(run(collectives::all_reduce, one_size(size), FaultyBackend(fault)), 0,
                 "never written");
  }
}

TEST_P(Faults, ResultOfAnEarlierCall) {
  auto kept = std::make_shared<std::vector<std::byte>>(40'000);
  Fault fault;
  fault.after = [kept](int rank, int number, const Call& call) {
    if (rank != 0) return;
    if (number == checked_call) std::memcpy(kept->data(), call.recv, kept->size());
    if (number == timed_call) std::memcpy(call.recv, kept->data(), kept->size());
  };
  for (const Collective* collective : {&collectives::all_reduce, &collectives::broadcast}) {
    expect_found(run(*collective, one_size(40'000), FaultyBackend(fault)), 0,
                 "the result of an earlier call");
  }
}

TEST_P(FaultsAmongRanks, OwnInputReturned) {
  Fault fault;
  fault.after = [](int rank, int number, const Call& call) {
    if (rank == 1 && number == checked_call)
      std::memcpy(call.recv, call.send, call.count * size_of(call.type));
  };
  expect_found(run(collectives::all_reduce, one_size(40'000), FaultyBackend(fault)), 1,
               "this rank's own input, not reduced");
}

// Rank 2's input is made neutral: what every rank gets is the reduction without it.
template <class T>
void expect_loss_found(Options o, DataType type, ReduceOp op, T neutral) {
  const std::vector<T> data(10'000, neutral);
  Fault fault;
  fault.before = [&](int rank, int number, Call& call) {
    if (rank == 2 && number == checked_call) call.send = data.data();
    return true;
  };
  o.sweep.types = {type};
  o.sweep.ops = {op};
  const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(fault));
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.summary.failed_checks, static_cast<std::uint64_t>(*o.job.threads));
  EXPECT_THAT(outcome.text(), HasSubstr("the reduction without rank 2"));
}

TEST_P(FaultsAmongRanks, ContributionOfOneRankLost) {
  const Options o = one_size(40'000);
  expect_loss_found(o, DataType::float32, ReduceOp::sum, 0.0F);
  expect_loss_found(o, DataType::float32, ReduceOp::prod, 1.0F);
  expect_loss_found(o, DataType::float32, ReduceOp::max, -1e30F);
  expect_loss_found(o, DataType::float32, ReduceOp::min, 1e30F);
  expect_loss_found(o, DataType::int32, ReduceOp::band, -1);
  expect_loss_found(o, DataType::int32, ReduceOp::bor, 0);
  expect_loss_found(o, DataType::int32, ReduceOp::bxor, 0);
}

TEST_P(Faults, OneByteBeyondEitherEnd) {
  for (const std::size_t size : {std::size_t{8}, std::size_t{40'000}}) {
    for (const bool behind : {true, false}) {
      Fault fault;
      fault.after = [&](int rank, int number, const Call& call) {
        if (rank == 0 && number == checked_call)
          *(behind ? bytes_of(call) + size : bytes_of(call) - 1) = std::byte{0};
      };
      expect_found(run(collectives::all_reduce, one_size(size), FaultyBackend(fault)), 0,
                   behind ? "1 bytes written past the end of the buffer"
                          : "1 bytes written before the buffer");
    }
  }
}

TEST_P(Faults, SendBufferChanged) {
  Fault fault;
  fault.after = [](int rank, int number, const Call& call) {
    if (rank == 0 && number == checked_call)
      static_cast<std::byte*>(const_cast<void*>(call.send))[100] ^= std::byte{1};
  };
  expect_found(run(collectives::all_reduce, one_size(40'000), FaultyBackend(fault)), 0,
               "the send buffer was changed");
}

TEST_P(FaultsAmongRanks, BarrierThatDoesNotWait) {
  class Open : public Communicator {
   public:
    void barrier(const Call& /*call*/) override {}
    void transfer(std::span<Message> /*messages*/, Deadline& /*deadline*/) override {}
  };
  class OpenBackend : public LoopbackBackend {
   public:
    std::unique_ptr<Communicator> connect(ControlChannel& /*b*/,
                                          const BackendOptions& /*o*/) const override {
      return std::make_unique<Open>();
    }
  };
  const Outcome outcome = run(collectives::barrier, quick(GetParam()), OpenBackend());
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.text(), HasSubstr("left the barrier"));
}

TEST_P(Faults, ErrorOfOneRankEndsAllAndKeepsTheRows) {
  Options o = quick(GetParam());
  o.sweep.sizes = {8, 40'000};
  Fault fault;
  fault.before = [](int rank, int number, Call& /*call*/) -> bool {
    if (rank == 0 && number == 12) throw Error("the wire broke");
    return true;
  };
  const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(fault));
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_EQ(outcome.rows.size(), 1U);
  EXPECT_FALSE(outcome.summary.complete);
  EXPECT_THAT(outcome.text(), HasSubstr("rank 0/" + std::to_string(GetParam())));
  EXPECT_THAT(outcome.text(), HasSubstr("all_reduce float sum, 40000 B, out of place"));
  EXPECT_THAT(outcome.text(), HasSubstr("the wire broke"));
}

TEST_P(Faults, TimeoutOfOneRankIsExit5) {
  Fault fault;
  fault.before = [](int rank, int number, Call& /*call*/) -> bool {
    if (rank == 0 && number == 2) throw Timeout("waited too long");
    return true;
  };
  EXPECT_EQ(run(collectives::all_reduce, quick(GetParam()), FaultyBackend(fault)).exit_code, 5);
}

}  // namespace
}  // namespace ccl_tests::test
