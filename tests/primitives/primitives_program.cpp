// Every primitive on the ranks of any launcher: primitives_program BACKEND. With `fail` behind it
// rank 1 ends with an exception instead, while the others wait, with `error` with one that could be
// the library's; with `throw` a thread that rank 1
// has started does; with `mixed` rank 1 takes another backend; with `sleep` it does not come to a call,
// with `other-call` it makes another one: nothing ends these but time limits, of 2 s.
#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "src/core/communicator.hpp"
#include "src/programs/run_distributed.hpp"
#include "tests/primitives/cases.hpp"

namespace {

// Returns how many CPUs the calling thread may run on.
int cpus_of_this_thread() {
  cpu_set_t mask;
  return ::sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 0;
}
const int cpus_at_start = cpus_of_this_thread();

void run_all(ccl_tests::primitives::Group& world) {
  if (cpus_of_this_thread() != cpus_at_start)
    throw ccl_tests::Error("the primitives have bound the caller's thread");
  ccl_tests::test::Recording wire(world.communicator());
  for (const ccl_tests::test::Subject& subject : ccl_tests::test::all_subjects()) {
    ccl_tests::primitives::Group group(world.channel(), wire, 60, world.library());
    ccl_tests::test::World of_test{group, wire};
    ccl_tests::test::run_cases(of_test, subject.cases);
    group.all_gather("");
  }
  if (testing::UnitTest::GetInstance()->Failed()) throw ccl_tests::Error("a case has failed");
  world.main_only([&] {
    fmt::print("{} subjects passed on {} ranks of {}\n", ccl_tests::test::all_subjects().size(),
               world.ranks(), world.backend());
  });
}

void fail_on_rank_1(ccl_tests::primitives::Group& world) {
  if (world.rank() == 1) throw ccl_tests::Error("it was to fail", ccl_tests::Exit::wrong_data);
  world.barrier();
}

void error_on_rank_1(ccl_tests::primitives::Group& world) {
  if (world.rank() == 1) throw ccl_tests::Error("it was to fail");
  world.barrier();
}

void throw_on_a_thread_of_rank_1(ccl_tests::primitives::Group& world) {
  if (world.rank() == 1)
    std::thread([] { throw ccl_tests::Error("nobody catches this"); }).detach();
  for (int i = 0; i < 200; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    world.barrier();
  }
}

// Rank 1 does not come to a call of the library.
void sleep_on_rank_1(ccl_tests::primitives::Group& world) {
  world.barrier();
  if (world.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(60));
  world.barrier();
}

// Rank 1 waits for a message that nobody sends.
void other_call_on_rank_1(ccl_tests::primitives::Group& world) {
  world.barrier();
  if (world.rank() == 1) {
    std::array<std::byte, 4> room{};
    std::array messages = {ccl_tests::Message::from(0, room)};
    ccl_tests::Deadline deadline = world.communicator().deadline(room.size());
    world.communicator().transfer(messages, deadline);
    world.communicator().wait();
  }
  world.barrier();
}

bool is_rank_1() {
  const char* const rank = std::getenv("RANK");
  return rank != nullptr && std::string_view(rank) == "1";
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  ccl_tests::DistributedOptions options;
  if (argc > 1) options.backend = argv[1];
  options.limit_s = 60;
  const std::string_view what = argc > 2 ? argv[2] : "";
  if (what == "fail") return ccl_tests::run_distributed(options, fail_on_rank_1);
  if (what == "error") return ccl_tests::run_distributed(options, error_on_rank_1);
  if (what == "throw") return ccl_tests::run_distributed(options, throw_on_a_thread_of_rank_1);
  if (what == "sleep" || what == "other-call") options.limit_s = 2;
  if (what == "sleep") return ccl_tests::run_distributed(options, sleep_on_rank_1);
  if (what == "other-call") return ccl_tests::run_distributed(options, other_call_on_rank_1);
  if (what == "mixed" && is_rank_1()) options.backend = "gloo";
  return ccl_tests::run_distributed(options, run_all);
}
