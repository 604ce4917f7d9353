// What is set on the command line reaches the library under test.
#include <gtest/gtest.h>

#include <atomic>

#include "src/core/communicator.hpp"
#include "tests/ranks/world.hpp"
#include "tests/unit/command_line.hpp"

namespace ccl_tests {
namespace {

// Keeps what it is told, and connects nothing.
class TellingBackend : public Backend {
 public:
  BackendInfo info() const override { return {.name = "telling", .version = "1"}; }
  std::unique_ptr<Communicator> connect(ControlChannel& /*channel*/,
                                        const BackendOptions& options) const override {
    init_timeout_s = options.init_timeout_s;
    throw Error("told");
  }
  mutable std::atomic<double> init_timeout_s = 0;
};

TEST(Options, TheLimitOfStartingIsTheLibrarysToo) {
  for (const char* ranks : {"1", "3", "4"}) {
    const TellingBackend backend;
    const test::Outcome outcome =
        test::run(collectives::all_reduce, read({"-t", ranks, "--init-timeout", "7.5"}), backend);
    EXPECT_EQ(outcome.exit_code, exit_code(Exit::failed)) << outcome.text();
    EXPECT_EQ(backend.init_timeout_s, 7.5);
  }
}

}  // namespace
}  // namespace ccl_tests
