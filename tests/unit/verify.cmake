ccl_add_test(verify_test LABELS unit
  SOURCES
    average_test.cpp
    bitwise_inputs_test.cpp
    explanations_test.cpp
    inputs_test.cpp
    order_sensitive_test.cpp
    phases_test.cpp
    right_results_test.cpp
    types_test.cpp
    verifier_test.cpp)
