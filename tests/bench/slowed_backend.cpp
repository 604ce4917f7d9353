// Another backend whose operations take longer by a share: a slower library, for tests of
// comparisons. CCL_SLOWED: the other backend ("gloo", "mpi-openmpi"). --backend-option factor=1.2:
// each operation takes 1.2 times as long, of which this rank spends the additional part spinning.
// With factor=1 the clock is read as often, so that a comparison sees nothing but the factor.
#include <cstdlib>
#include <memory>

#include "src/backends/registry.hpp"
#include "src/core/clock.hpp"
#include "src/core/communicator.hpp"
#include "src/core/error.hpp"
#include "src/core/forwarding_communicator.hpp"
#include "src/core/types.hpp"

namespace ccl_tests {
namespace {

class SlowedCommunicator : public ForwardingCommunicator {
 public:
  SlowedCommunicator(std::unique_ptr<Communicator> below, double factor)
      : ForwardingCommunicator(*below), below_(std::move(below)), factor_(factor) {}

 protected:
  void perform(OperationId operation, const Call& call) override {
    const Clock& clock = below_->clock();
    const double begin = clock.now();
    ForwardingCommunicator::perform(operation, call);
    below_->wait();
    double now = clock.now();
    const double end = begin + (now - begin) * factor_;
    while (now < end) now = clock.now();
  }

 private:
  std::unique_ptr<Communicator> below_;
  double factor_;
};

class Slowed : public Backend {
 public:
  Slowed() {
    const char* const name = std::getenv("CCL_SLOWED");
    if (name == nullptr) throw UsageError("CCL_SLOWED: must name the backend that is slowed");
    below_ = open_backend(name);
  }
  BackendInfo info() const override {
    BackendInfo info = below_->info();
    info.option_keys.emplace_back("factor");
    return info;
  }
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    const double factor = std::strtod(options.get("factor").value_or("1").c_str(), nullptr);
    if (!(factor >= 1)) throw UsageError("factor: at least 1");
    return std::make_unique<SlowedCommunicator>(below_->connect(channel, options), factor);
  }
  void check(const BackendOptions& options) const override { below_->check(options); }
  bool open_library(const std::string& file) const override { return below_->open_library(file); }
  void start(const BackendOptions& options) const override { below_->start(options); }
  void finish() const override { below_->finish(); }
  std::string from_process_0(const std::string& bytes, int processes) const override {
    return below_->from_process_0(bytes, processes);
  }

 private:
  BackendPtr below_;
};

}  // namespace
}  // namespace ccl_tests

CCL_TESTS_BACKEND(ccl_tests::Slowed);
