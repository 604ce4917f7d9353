set(ranks_sources
  beside_test.cpp
  composed_test.cpp
  every_call_test.cpp
  faults_test.cpp
  groups_test.cpp
  moe_test.cpp
  passes_test.cpp
  per_iteration_test.cpp
  pingpong_test.cpp
  reproducible_test.cpp
  right_test.cpp
  samples_test.cpp
  soak_test.cpp
  staged_test.cpp
  started_test.cpp
  streams_test.cpp)
list(TRANSFORM ranks_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
ccl_add_test(ranks_test LABELS ranks LIBRARIES ccl-collectives SOURCES ${ranks_sources})
add_dependencies(ranks_test cpu-modules)
ccl_add_test(acceptance_team_test LABELS ranks LIBRARIES ccl-acceptance SOURCES ${CMAKE_CURRENT_LIST_DIR}/acceptance_team_test.cpp)
add_dependencies(acceptance_team_test cpu-modules)
