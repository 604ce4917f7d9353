ccl_add_test(verifier_check_test LABELS unit LIBRARIES ccl-device-check
  SOURCES verifier_check_test.cpp)
