// Every primitive on the ranks of any launcher: primitives_program BACKEND. With `fail` behind it
// rank 1 ends with an exception instead, while the others wait.
#include <fmt/format.h>

#include <string_view>

#include "src/run_distributed.hpp"
#include "tests/primitives/cases.hpp"

namespace {

void run_all(ccl::primitives::Group& world) {
  ccl::test::Recording wire(world.communicator());
  for (const ccl::test::Subject& subject : ccl::test::all_subjects()) {
    ccl::primitives::Group group(world.bootstrap(), wire, 60, world.library());
    ccl::test::World of_test{group, wire};
    ccl::test::run_cases(of_test, subject.cases);
    group.exchange("");
  }
  if (testing::UnitTest::GetInstance()->Failed()) throw ccl::Error("a case has failed");
  world.main_only([&] {
    fmt::print("{} subjects passed on {} ranks of {}\n", ccl::test::all_subjects().size(),
               world.ranks(), world.backend());
  });
}

void fail_on_rank_1(ccl::primitives::Group& world) {
  if (world.rank() == 1) throw ccl::Error("it was to fail", ccl::Exit::wrong_data);
  world.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  ccl::DistributedOptions options;
  if (argc > 1) options.backend = argv[1];
  options.limit_s = 60;
  const bool fails = argc > 2 && std::string_view(argv[2]) == "fail";
  return ccl::run_distributed(options, fails ? fail_on_rank_1 : run_all);
}
