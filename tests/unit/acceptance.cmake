ccl_add_test(acceptance_test LABELS unit LIBRARIES acceptance-model
  SOURCES
    acceptance_blame_test.cpp
    acceptance_effects_test.cpp
    acceptance_links_test.cpp
    acceptance_schedule_test.cpp)
ccl_add_test(acceptance_tool_test LABELS unit LIBRARIES ccl-acceptance
  SOURCES
    acceptance_baseline_test.cpp
    acceptance_host_test.cpp
    acceptance_journal_test.cpp
    acceptance_plan_test.cpp
    acceptance_prefix_test.cpp
    acceptance_progress_test.cpp
    acceptance_wires_test.cpp)
add_library(fake-nvml MODULE fake_nvml.cpp)
set_target_properties(fake-nvml PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_dependencies(acceptance_tool_test fake-nvml)
target_compile_definitions(acceptance_tool_test PRIVATE CCL_FAKE_NVML="$<TARGET_FILE:fake-nvml>")
ccl_add_test(acceptance_power_test LABELS statistics LIBRARIES acceptance-model SOURCES acceptance_power_test.cpp)
# Twenty launches of each; results/ has a thousand.
add_executable(acceptance_scenarios ${PROJECT_SOURCE_DIR}/tests/bench/acceptance_scenarios.cpp)
set_target_properties(acceptance_scenarios PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
target_link_libraries(acceptance_scenarios PRIVATE acceptance-model)
add_test(NAME acceptance_scenarios COMMAND acceptance_scenarios 20)
set_tests_properties(acceptance_scenarios PROPERTIES LABELS statistics)
