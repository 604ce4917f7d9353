ccl_add_test(acceptance_report_test LABELS unit LIBRARIES acceptance-report nlohmann_json::nlohmann_json
  SOURCES
    acceptance_report_page_test.cpp
    acceptance_report_terminal_test.cpp
    acceptance_report_verdict_test.cpp
    acceptance_report_words_test.cpp)
# What tests/system/acceptance_page_test.sh shows to a browser.
add_executable(acceptance_pages acceptance_pages.cpp)
set_target_properties(acceptance_pages PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_link_libraries(acceptance_pages PRIVATE acceptance-report)
