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
find_path(CCL_BOOST_INCLUDE boost/math/distributions/binomial.hpp)
if(CCL_BOOST_INCLUDE)
  ccl_add_test(statistics_oracle_test LABELS unit LIBRARIES ccl-compare
    SOURCES scatter_test.cpp statistics_oracle_test.cpp)
  target_include_directories(statistics_oracle_test SYSTEM PRIVATE ${CCL_BOOST_INCLUDE})
else()
  message(STATUS "statistics_oracle_test: left out, no Boost.Math (package libboost-dev)")
endif()
