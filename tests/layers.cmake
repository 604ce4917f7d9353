# Tests of the house itself: they need neither a build nor a network.
add_test(NAME house.layers
         COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/layers_test.sh ${PROJECT_SOURCE_DIR})
add_test(NAME house.layers_self_test
         COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/layers_self_test.sh
                 ${CMAKE_CURRENT_LIST_DIR}/layers_test.sh)
add_test(NAME house.setup
         COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/system/setup_test.sh ${PROJECT_SOURCE_DIR}/scripts)
add_test(NAME house.output
         COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/output_test.sh ${PROJECT_SOURCE_DIR})
add_test(NAME house.documents
         COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/documents_test.sh ${PROJECT_SOURCE_DIR})
add_test(NAME house.scripts
         COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/scripts_test.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(house.scripts PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(house.layers house.layers_self_test house.setup house.output house.documents house.scripts
                     PROPERTIES TIMEOUT 60 LABELS house)
