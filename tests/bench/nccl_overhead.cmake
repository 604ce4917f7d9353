# Installed, to be carried to a machine with GPUs; and one over the stand-ins, for trying it:
# LD_LIBRARY_PATH=build/tests/fake_gpu build/bench/fake_nccl_overhead -e 1M
if(NOT TARGET ccl-nccl)
  return()
endif()
find_package(CUDAToolkit QUIET)
add_library(nccl_overhead_objects OBJECT nccl_overhead.cpp ${PROJECT_SOURCE_DIR}/src/devices/cuda/device.cpp)
target_include_directories(nccl_overhead_objects SYSTEM PRIVATE ${CCL_NCCL_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(nccl_overhead_objects PRIVATE ccl nlohmann_json::nlohmann_json)
function(add_nccl_overhead name runtime)
  add_executable(${name} $<TARGET_OBJECTS:nccl_overhead_objects> $<TARGET_OBJECTS:ccl-nccl>)
  target_link_libraries(${name} PRIVATE ccl ${runtime})
endfunction()
add_nccl_overhead(nccl_overhead CUDA::cudart_static)
get_target_property(module_rpath ccl-nccl INSTALL_RPATH)  # where its libnccl.so.2 is looked for
list(FILTER module_rpath EXCLUDE REGEX "^\\$ORIGIN")
set_target_properties(nccl_overhead PROPERTIES
  BUILD_RPATH "${module_rpath}" INSTALL_RPATH "${CMAKE_INSTALL_RPATH};${module_rpath}")
install(TARGETS nccl_overhead RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET fake-nccl)
  add_nccl_overhead(fake_nccl_overhead fake-cudart)
  set_target_properties(fake_nccl_overhead PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  add_dependencies(fake_nccl_overhead fake-nccl)
endif()
