// NCCL's RAS service: what NCCL itself knows of its communicators and of who is missing.
#pragma once

#include <string>

namespace ccl_tests::nccl_module {

// ": NCCL's RAS says: ..." in one line, or nothing where no service answers within 4.5 s. It
// listens on NCCL_RAS_ADDR, localhost:28028 by default, from NCCL 2.24 on.
std::string ras_report();

}  // namespace ccl_tests::nccl_module
