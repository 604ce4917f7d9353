ccl_add_test(acceptance_test LABELS unit LIBRARIES acceptance-model
  SOURCES
    acceptance_blame_test.cpp
    acceptance_effects_test.cpp
    acceptance_links_test.cpp
    acceptance_prefix_test.cpp
    acceptance_schedule_test.cpp)
ccl_add_test(acceptance_tool_test LABELS unit LIBRARIES ccl-acceptance
  SOURCES
    acceptance_baseline_test.cpp
    acceptance_journal_test.cpp
    acceptance_plan_test.cpp
    acceptance_wires_test.cpp)
ccl_add_test(acceptance_power_test LABELS statistics LIBRARIES acceptance-model SOURCES acceptance_power_test.cpp)
