# How the shared library is compiled. What never runs while the clock does is made small, not fast: every rank has it in memory. What does
# run then is ccl-timed. CMake links it first, and of an inline function the linker takes the first copy. Debug: half of the unit tests' time
# went into the loops that are named here.
set(small_options $<$<CONFIG:Release>:-Os>)  # of tools, too
if(CCL_SANITIZE)
  set(small_options -O0)  # half the compile time
endif()
get_target_property(sources ccl SOURCES)
list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/src/ REGEX "^[^/]")
set(timed ${sources})
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  list(FILTER timed INCLUDE REGEX "/verify/|/src/(backends/loopback|core/(routing|sha256|types)|measure/(estimate|statistics)|model/fit)\\.cpp$")
else()
  list(FILTER timed INCLUDE REGEX "/(src/(core|backends|devices|measure|primitives)|verify)/|_workload\\.cpp$|/(reproduction_check|sha256)\\.cpp$")
endif()
list(REMOVE_ITEM sources ${timed})
set_property(TARGET ccl PROPERTY SOURCES ${sources} $<TARGET_OBJECTS:ccl-timed>)
set_property(TARGET ccl-timed PROPERTY SOURCES ${timed})
target_compile_options(ccl PRIVATE ${small_options})
target_compile_options(ccl-timed PRIVATE $<$<CONFIG:Release>:-O3> $<$<CONFIG:Debug>:-O1>)
foreach(target ccl ccl-timed)
  # g++ 12 reports what std::string does inside as the suite's own there (all of it false).
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
  target_precompile_headers(${target} PRIVATE ${CCL_PRECOMPILED})
endforeach()
# Half of its symbols were copies of other libraries' templates, which the dynamic linker would bind one by one at each start.
target_link_options(ccl PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/library_symbols.map)
set_property(TARGET ccl APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/library_symbols.map)
