# ccl_add_module(ccl-NAME cpu-modules|modules a.cpp ...): a shared object that is opened at run time, beside the library. The target in second place
# builds it: every program builds cpu-modules; modules has those for GPUs, too.
function(ccl_add_module target group)
  add_library(${target} MODULE ${ARGN})
  set_target_properties(${target} PROPERTIES
    PREFIX "" CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/ccl-tests
    INSTALL_RPATH "$ORIGIN/..")
  target_link_libraries(${target} PRIVATE ccl ${CMAKE_DL_LIBS})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ccl-tests)
  add_dependencies(${group} ${target})
endfunction()
