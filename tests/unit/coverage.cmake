ccl_add_test(coverage_test LABELS statistics LIBRARIES ccl-collectives
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/coverage_test.cpp ${CMAKE_CURRENT_LIST_DIR}/distances_test.cpp)
target_compile_definitions(coverage_test PRIVATE CCL_TEST_SOURCES="${CMAKE_CURRENT_LIST_DIR}")
