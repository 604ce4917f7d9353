// What every primitive must do, as functions that all ranks of a group call: run on threads by
// ranks_test.cpp and under any launcher by primitives_program.cpp.
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <vector>

#include "src/primitives/group.hpp"
#include "tests/primitives/recording.hpp"

namespace ccl_tests::test {

// What a case is given: a group whose communicator is `wire`.
struct World {
  primitives::Group& group;
  Recording& wire;

  int rank() const { return group.rank(); }
  int ranks() const { return group.ranks(); }
};

using Operations = std::vector<std::string>;

struct Case {
  const char* name;
  void (*run)(World& world);
};

struct Subject {
  const char* name;
  std::vector<Case> cases;
};
inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

std::vector<Case> group_cases();
std::vector<Case> new_group_cases();
std::vector<Case> agreement_cases();
std::vector<Case> object_cases();
std::vector<Case> seed_cases();
std::vector<Case> result_cases();
std::vector<Case> dictionary_cases();
std::vector<Case> tensor_cases();

inline std::vector<Subject> all_subjects() {
  return {
      {"group", group_cases()},
      {"new_groups", new_group_cases()},
      {"agreement", agreement_cases()},
      {"objects", object_cases()},
      {"seeds", seed_cases()},
      {"results", result_cases()},
      {"dictionaries", dictionary_cases()},
      {"tensors", tensor_cases()},
  };
}

inline void run_cases(World& world, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(fmt::format("{}, rank {} of {}", c.name, world.rank(), world.ranks()));
    world.wire.taken();
    c.run(world);
  }
}

// Text of the Error that f throws; fails when it throws none.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

// The same, of an error that every rank must throw, with one text.
template <class F>
std::string error_everywhere(World& world, F&& f) {
  const std::string text = error_of(f);
  EXPECT_THAT(world.group.all_gather(text), testing::Each(text));
  return text;
}

}  // namespace ccl_tests::test
