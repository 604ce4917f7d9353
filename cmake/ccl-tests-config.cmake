# find_package(ccl-tests): the target ccl-tests::ccl-tests, for modules and programs that are built elsewhere (examples/).
include(${CMAKE_CURRENT_LIST_DIR}/ccl-tests-targets.cmake)

# ccl_tests_add_backend(name sources...): name.so, for --backend ./name.so.
function(ccl_tests_add_backend name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(${name} PRIVATE ccl-tests::ccl-tests)
endfunction()
