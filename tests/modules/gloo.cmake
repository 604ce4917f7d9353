# The module is opened at run time: these tests skip, saying so, when it was not built.
ccl_add_test(gloo_test LABELS modules LIBRARIES nlohmann_json::nlohmann_json
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/gloo_addresses_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/gloo_traps_test.cpp
    ${PROJECT_SOURCE_DIR}/src/backends/gloo/addresses.cpp)
add_dependencies(gloo_test cpu-modules)
