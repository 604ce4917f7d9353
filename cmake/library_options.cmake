# How the shared library is compiled. What never runs while the clock does is made small, not fast: every rank has it in memory. That is most
# of it, and shares a precompiled header. g++ 12 reports what std::string does inside as the suite's own there (all of it false).
target_compile_options(ccl PRIVATE $<$<CONFIG:Release>:-Os>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
target_precompile_headers(ccl PRIVATE <fmt/format.h> <fmt/ranges.h> <algorithm> <array> <functional> <map> <memory> <optional> <set> <span>
  <string> <string_view> <utility> <vector>)
get_target_property(hot_sources ccl SOURCES)
list(TRANSFORM hot_sources PREPEND ${PROJECT_SOURCE_DIR}/src/ REGEX "^[^/]")
if(CMAKE_BUILD_TYPE STREQUAL "Debug")  # half of the unit tests' time went into these loops
  list(FILTER hot_sources INCLUDE REGEX "/verify/|/src/(backends/loopback|core/types|programs/self_check)\\.cpp$")
  set_source_files_properties(${hot_sources} TARGET_DIRECTORY ccl PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -O1)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  list(FILTER hot_sources INCLUDE REGEX "/(src/(core|backends|devices|measure|primitives)|verify)/|_workload\\.cpp$|/sha256\\.cpp$")
  set_source_files_properties(${hot_sources} TARGET_DIRECTORY ccl PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  set_property(SOURCE ${hot_sources} TARGET_DIRECTORY ccl APPEND PROPERTY COMPILE_OPTIONS -O3)
endif()
# Half of its symbols were copies of other libraries' templates, which the dynamic linker would bind one by one at each start.
target_link_options(ccl PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/library_symbols.map)
set_property(TARGET ccl APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/library_symbols.map)
