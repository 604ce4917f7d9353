ccl_add_test(compare_test LABELS unit LIBRARIES ccl-compare
  SOURCES
    compare_comparable_test.cpp
    compare_files_test.cpp
    compare_interleaved_test.cpp
    compare_power_test.cpp
    compare_rows_test.cpp
    compare_sign_test.cpp
    compare_verdict_test.cpp
    compare_writers_test.cpp)
