ccl_add_test(verifier_check_test LABELS unit LIBRARIES ccl-device-check
  SOURCES verifier_check_test.cpp)
ccl_add_test(mesh_test LABELS unit LIBRARIES ccl-mesh SOURCES mesh_test.cpp)
