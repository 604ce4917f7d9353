// Whether what the library sends to other hosts leaves by the interface that a user chose.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/job/rank.hpp"
#include "src/record/record.hpp"

namespace ccl_tests {

// What one rank says after the last row.
struct RankWire {
  std::string host, place;              // name, and host_identity()
  long pid = 0;                         // ranks of a process count the same bytes
  std::string interface = {}, by = {};  // "eth1", "--interface"; empty: nobody chose one
  std::uint64_t sent = 0;               // bytes to other hosts
  std::map<std::string, std::uint64_t> counted = {};  // sent by its host's interfaces meanwhile
};

// Sets AfterRows::wire and wrong_wire. Pure.
void judge_wires(const std::vector<RankWire>& ranks, AfterRows& found);

// Counts from now on.
class WireCheck {
 public:
  WireCheck();
  // Sets what ranks found, on rank 0. Collective. Throws Error, Timeout.
  void judge(Rank& rank, const Communicator& communicator, AfterRows& found) const;

 private:
  std::map<std::string, std::uint64_t> before_;
};

}  // namespace ccl_tests
