ccl_add_test(harness_test LABELS unit LIBRARIES ccl-collectives
  SOURCES
    alltoallv_options_test.cpp
    failure_box_test.cpp
    gpu_evidence_test.cpp
    grouping_test.cpp
    host_cpus_test.cpp
    host_memory_test.cpp
    layouts_test.cpp
    parts_test.cpp
    tensor_lists_test.cpp
    iterations_test.cpp
    measure_test.cpp
    memory_plan_test.cpp
    options_test.cpp
    pair_notes_test.cpp
    pairing_test.cpp
    rank_device_test.cpp
    recorder_test.cpp
    reduction_test.cpp
    refused_options_test.cpp
    row_bytes_test.cpp
    settings_test.cpp
    sizes_test.cpp
    spec_errors_test.cpp
    uncaught_test.cpp
    watchdog_test.cpp)
target_compile_definitions(harness_test PRIVATE CCL_UNIT_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
