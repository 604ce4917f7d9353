add_executable(control_scale control_scale.cpp fake_ranks.cpp)
set_target_properties(control_scale PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
target_link_libraries(control_scale PRIVATE ccl ccl-asio)
