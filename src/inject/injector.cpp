#include "src/inject/injector.hpp"

namespace ccl_tests {

void Injector::set(std::optional<Fault> fault) {
  fault_ = fault;
  calls_ = 0;
  spoiled_ = 0;
}

std::optional<Fault> Injector::next() {
  if (!fault_ || row_.bytes != fault_->at_bytes.value_or(row_.bytes)) return std::nullopt;
  if (fault_->phase != CallPhase::any && fault_->phase != phase_) return std::nullopt;
  ++calls_;
  if (fault_->call > 0 && calls_ != fault_->call) return std::nullopt;
  if (calls_ % fault_->every != 0) return std::nullopt;
  return fault_;
}

}  // namespace ccl_tests
