// What a library does of what the suite asks for, in words.
#pragma once

#include <string>

#include "src/core/capabilities.hpp"

namespace ccl_tests::selftest {

// Lines with '#': which operations the backend makes, which the suite composes from messages, what the backend composes, and
// what it lacks.
std::string library_text(const Capabilities& library);

}  // namespace ccl_tests::selftest
