ccl_add_test(harness_test LABELS unit LIBRARIES ccl-collectives
  SOURCES
    abbreviations_test.cpp
    alltoallv_options_test.cpp
    bounds_test.cpp
    capabilities_test.cpp
    communicator_test.cpp
    cpu_binding_test.cpp
    deadline_test.cpp
    digest_file_test.cpp
    estimate_test.cpp
    evidence_test.cpp
    exit_codes_test.cpp
    extent_test.cpp
    fit_test.cpp
    failure_box_test.cpp
    fault_test.cpp
    gpu_evidence_test.cpp
    giving_up_test.cpp
    goals_test.cpp
    rank_groups_test.cpp
    host_cpus_test.cpp
    host_memory_test.cpp
    interfaces_test.cpp
    iteration_times_test.cpp
    late_ranks_test.cpp
    crash_footer_test.cpp
    layouts_test.cpp
    baseline_test.cpp
    beside_test.cpp
    limits_test.cpp
    parts_test.cpp
    tensor_lists_test.cpp
    statistics_test.cpp
    measure_test.cpp
    memory_plan_test.cpp
    mpi_library_test.cpp
    help_test.cpp
    normal_text_test.cpp
    options_reach_test.cpp
    options_test.cpp
    pair_rows_test.cpp
    pairing_test.cpp
    passes_test.cpp
    rank_device_test.cpp
    run_results_test.cpp
    reduction_test.cpp
    routing_test.cpp
    reproduction_test.cpp
    repeatability_test.cpp
    refused_options_test.cpp
    row_bytes_test.cpp
    run_header_test.cpp
    sample_criterion_test.cpp
    sample_series_test.cpp
    clock_offset_test.cpp
    settings_test.cpp
    signals_test.cpp
    sizes_test.cpp
    spec_errors.cpp
    spec_errors_test.cpp
    specs_test.cpp
    stream_criterion_test.cpp
    thread_stack_test.cpp
    uncaught_test.cpp
    verdict_test.cpp
    watchdog_test.cpp
    watched_test.cpp
    rounding_test.cpp)
target_compile_definitions(harness_test PRIVATE CCL_UNIT_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
if(TARGET ccl-hwloc)
  add_dependencies(harness_test ccl-hwloc)
endif()
ccl_add_test(fuzz_test LABELS unit LIBRARIES fuzz-targets SOURCES fuzz_test.cpp)
# A folder of inputs for each target, out of the archives.
set(corpus ${PROJECT_BINARY_DIR}/tests/fuzz/corpus)
file(REMOVE_RECURSE ${corpus})
file(GLOB archives CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/*.tar.gz)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${archives})
foreach(archive ${archives})
  get_filename_component(target ${archive} NAME_WE)
  file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${corpus}/${target})
endforeach()
target_compile_definitions(fuzz_test PRIVATE CCL_FUZZ_CORPUS="${corpus}")
