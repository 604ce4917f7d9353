# The modules of CUDA devices and of NCCL, built over the stand-ins, in a tree of their own: with
# LD_LIBRARY_PATH=build/tests/fake_gpu/lib the programs run on the fake GPUs.
if(NOT TARGET ccl-nccl)
  return()
endif()
set(tree ${PROJECT_BINARY_DIR}/tests/fake_gpu/lib)
function(add_fake_module name)
  add_library(fake-${name} MODULE ${ARGN})
  set_target_properties(fake-${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${tree}/ccl-tests
    BUILD_RPATH "$ORIGIN/..;$ORIGIN/../..")
  target_link_libraries(fake-${name} PRIVATE ccl fake-cudart)
endfunction()

# The kernels' file is C++ to a host compiler, which runs its functors one after the other.
set(kernels ${PROJECT_SOURCE_DIR}/verify/cuda.cu)
set_source_files_properties(${kernels} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++;-Wno-error=sign-conversion")
set(devices ${PROJECT_SOURCE_DIR}/src/devices/cuda)
add_fake_module(ccl-cuda ${devices}/device.cpp ${devices}/module.cpp ${kernels} ${PROJECT_SOURCE_DIR}/verify/cuda_arena.cpp)
# <cuda/atomic>, which nvcc finds by itself.
find_path(CCL_CCCL_INCLUDE_DIR cuda/atomic HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES cccl)
target_include_directories(fake-ccl-cuda SYSTEM PRIVATE ${CCL_CCCL_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})

add_fake_module(ccl-nccl $<TARGET_OBJECTS:ccl-nccl>)
# The stand-in is opened as NCCL would be.
set_target_properties(fake-ccl-nccl PROPERTIES BUILD_RPATH "$ORIGIN/..;$ORIGIN/../..")

# The harness's own library finds the modules beside itself: a copy, not a link.
set(other_modules)
if(TARGET ccl-gloo)
  set(other_modules COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:ccl-gloo> ${tree}/ccl-tests/)
endif()
add_custom_target(fake-gpu-tree ALL
  COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:ccl> ${tree}/
  ${other_modules}
  DEPENDS ccl modules fake-ccl-cuda fake-ccl-nccl fake-nccl)

ccl_add_test(cuda_loops_test LABELS unit LIBRARIES fake-cudart SOURCES cuda_loops_test.cpp cuda_arena_test.cpp ${kernels} ${PROJECT_SOURCE_DIR}/verify/cuda_arena.cpp)
target_include_directories(cuda_loops_test SYSTEM PRIVATE ${CCL_CCCL_INCLUDE_DIR})
