// A library whose results are spoiled on purpose.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "src/core/call.hpp"
#include "src/core/communicator.hpp"
#include "src/core/device.hpp"
#include "src/inject/fault.hpp"

namespace ccl_tests {

// The calls of one rank that a fault is done to. Used by the rank's thread. All ranks are told the
// same, so that they decide alike. Copies count what they do together.
class Injector {
 public:
  Injector(int rank, std::optional<Fault> fault) : rank_(rank), fault_(fault) {}

  // nullopt: no fault from now on. Counts begin again.
  void set(std::optional<Fault> fault);
  // bytes: the row's size. own_buffers: those of the operation, which nothing guards.
  void begin_row(std::size_t bytes, bool own_buffers) {
    row_bytes_ = bytes;
    own_buffers_ = own_buffers;
    ++rows_;
  }
  std::uint64_t rows() const { return rows_; }  // that have begun
  void begin_phase(CallPhase phase) { phase_ = phase; }

  // Returns the fault that is to be done to the next operation, and counts it; nullopt: none.
  std::optional<Fault> next();
  const std::optional<Fault>& fault() const { return fault_; }
  bool concerns_this_rank() const { return fault_ && (fault_->rank < 0 || fault_->rank == rank_); }
  bool own_buffers() const { return own_buffers_; }

  // Counts what was done on this rank.
  void add_spoiled() { ++*spoiled_; }
  std::uint64_t spoiled() const { return *spoiled_; }

 private:
  int rank_;
  std::optional<Fault> fault_;
  std::size_t row_bytes_ = 0;
  bool own_buffers_ = false;
  CallPhase phase_ = CallPhase::untimed;
  std::size_t calls_ = 0;  // that fault_ names, but for `call` and `every`
  std::uint64_t rows_ = 0;
  std::shared_ptr<std::atomic<std::uint64_t>> spoiled_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

// Returns a communicator that does what `library` does, and then what `injector` says. It waits for an
// operation before it spoils it, and makes started operations at once. device: where buffers lie. Injector and
// device outlive it.
std::unique_ptr<Communicator> with_faults(std::unique_ptr<Communicator> library, Injector& injector,
                                          Device& device);

}  // namespace ccl_tests
