if(TARGET ccl-smpi)
  add_library(simulated_bare MODULE simulated_bare.cpp)
  set_target_properties(simulated_bare PROPERTIES
    PREFIX "" SUFFIX "" OUTPUT_NAME bare_all_reduce_perf LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/simulated)
  target_link_libraries(simulated_bare PRIVATE ccl-smpi)
endif()
