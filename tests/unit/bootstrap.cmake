# A program that supervises copies of itself, as --np does, and what those copies do.
add_executable(bootstrap_helper bootstrap_helper.cpp)
set_target_properties(bootstrap_helper PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_link_libraries(bootstrap_helper PRIVATE ccl)

ccl_add_test(bootstrap_test
  SOURCES
    bootstrap_blame_test.cpp
    bootstrap_exchanges_test.cpp
    bootstrap_gather_test.cpp
    bootstrap_groups_test.cpp
    bootstrap_server_test.cpp
    bootstrap_join_test.cpp
    bootstrap_launch_test.cpp
    bootstrap_local_processes_test.cpp
    bootstrap_net_test.cpp
    bootstrap_ranks_end_test.cpp
    bootstrap_store_test.cpp
    bootstrap_thread_ranks_test.cpp
    rank_status_test.cpp
    bootstrap_trouble_test.cpp
    failure_cause_test.cpp
    serialize_test.cpp
    sha256_test.cpp
  LIBRARIES ccl-asio
  LABELS unit)
target_compile_definitions(bootstrap_test PRIVATE CCL_BOOTSTRAP_HELPER="$<TARGET_FILE:bootstrap_helper>")
add_dependencies(bootstrap_test bootstrap_helper)
