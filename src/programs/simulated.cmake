# The programs for SimGrid's SMPI: ccl-simulated is the MPI module and the program for ranks that share one thread.
# build/simulated/X_perf is run by scripts/simulate.sh.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND AND NOT CCL_SIMGRID STREQUAL "OFF")
  pkg_check_modules(CCL_SIMGRID_LIBRARY QUIET IMPORTED_TARGET GLOBAL simgrid)
endif()
if(NOT CCL_SIMGRID_LIBRARY_FOUND)
  if(CCL_SIMGRID STREQUAL "ON")
    message(FATAL_ERROR "CCL_SIMGRID=ON, but pkg-config does not find simgrid (packages pkg-config libsimgrid-dev)")
  endif()
  set(CCL_MODULES_SUMMARY "${CCL_MODULES_SUMMARY}\n  simulated ranks: left out (packages pkg-config libsimgrid-dev)")
  return()
endif()
set(CCL_MODULES_SUMMARY "${CCL_MODULES_SUMMARY}\n  simulated ranks: SimGrid ${CCL_SIMGRID_LIBRARY_VERSION}")

set(smpi_include ${CCL_SIMGRID_LIBRARY_INCLUDEDIR})
if(NOT smpi_include)
  set(smpi_include /usr/include)
endif()
# What smpicxx does: clocks, sleep and main are the simulator's.
add_library(ccl-smpi INTERFACE)
target_include_directories(ccl-smpi SYSTEM INTERFACE ${smpi_include}/smpi)
target_compile_options(ccl-smpi INTERFACE -include ${smpi_include}/smpi/smpi_helpers.h)
target_link_libraries(ccl-smpi INTERFACE PkgConfig::CCL_SIMGRID_LIBRARY)

list(TRANSFORM CCL_MPI_SOURCES PREPEND backends/mpi/ OUTPUT_VARIABLE mpi_sources)
add_library(ccl-simulated SHARED programs/simulated_program.cpp backends/mpi/simulated.cpp ${mpi_sources})
target_compile_definitions(ccl-simulated PRIVATE
  CCL_MPI_NAME="mpi-simgrid" SMPI_NO_OVERRIDE_MALLOC)
set_target_properties(ccl-simulated PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/simulated)
target_link_libraries(ccl-simulated PUBLIC ccl PRIVATE ccl-smpi)
