# find_package(ccl-tests): the target ccl-tests::ccl-tests, for modules that are built elsewhere (examples/backend).
include(${CMAKE_CURRENT_LIST_DIR}/ccl-tests-targets.cmake)
