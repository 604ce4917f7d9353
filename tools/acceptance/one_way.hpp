// The message that hosts are judged by.
#pragma once

#include "src/core/collective.hpp"

namespace ccl_tests::acceptance {

// A message from the first rank of a pair to the second, which answers with one element when all of it
// has come. The row's size and time are the message's: both ends see the same time, that of one
// direction and a short way back.
extern const Collective one_way;

}  // namespace ccl_tests::acceptance
