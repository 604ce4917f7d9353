ccl_add_test(replay_test LABELS unit LIBRARIES ccl-replay ZLIB::ZLIB
  SOURCES
    replay_plan_test.cpp
    replay_readers_test.cpp)
