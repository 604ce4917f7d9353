# ccl_add_module(ccl-NAME a.cpp ...): a shared object that is opened at run time, beside the library. The targets modules and cpu-modules build it,
# and with them every program.
function(ccl_add_module target)
  add_library(${target} MODULE ${ARGN})
  set_target_properties(${target} PROPERTIES
    PREFIX "" CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/ccl-tests
    INSTALL_RPATH "$ORIGIN/..")
  target_link_libraries(${target} PRIVATE ccl)
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ccl-tests)
  add_dependencies(cpu-modules ${target})
endfunction()
