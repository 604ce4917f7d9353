ccl_add_test(verifier_check_test LABELS unit LIBRARIES ccl-device-check
  SOURCES verifier_check_test.cpp)
ccl_add_test(mesh_test LABELS unit LIBRARIES ccl-mesh SOURCES mesh_test.cpp)
# system.gpu_check runs this benchmark. With CCL_BENCHMARKS it lies and is installed beside the programs, to be carried to a machine with GPUs.
add_executable(verifier_speed ${PROJECT_SOURCE_DIR}/tests/bench/verifier_speed.cpp)
target_link_libraries(verifier_speed PRIVATE ccl nlohmann_json::nlohmann_json)
if(CCL_BENCHMARKS)
  install(TARGETS verifier_speed RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
else()
  set_target_properties(verifier_speed PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endif()
