ccl_add_test(ranks_test LABELS ranks LIBRARIES ccl-collectives
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/faults_test.cpp ${CMAKE_CURRENT_LIST_DIR}/groups_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/pingpong_test.cpp ${CMAKE_CURRENT_LIST_DIR}/right_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/started_test.cpp)
if(TARGET ccl-gloo)
  add_dependencies(ranks_test ccl-gloo)
endif()
