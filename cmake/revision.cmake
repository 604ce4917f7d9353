# Writes version.cpp at build time, only if it changes: cmake -DSOURCE=... -DVERSION=... -DOUTPUT=... -P revision.cmake
execute_process(COMMAND git describe --tags --always --dirty WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
if(NOT code EQUAL 0 OR NOT EXISTS ${SOURCE}/.git)
  set(revision "")  # no git, or the work tree of a project around this one
endif()
set(text "#include \"src/core/version.hpp\"

namespace ccl_tests {

const char* version() { return \"${VERSION}\"; }
const char* revision() { return \"${revision}\"; }

}  // namespace ccl_tests
")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
