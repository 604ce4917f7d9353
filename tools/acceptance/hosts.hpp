// The hosts of a job, as an acceptance run sees them.
#pragma once

#include <string>
#include <vector>

#include "src/job/rank_table.hpp"

namespace ccl_tests::acceptance {

struct HostRanks {
  std::string name;        // as people call it
  std::vector<int> ranks;  // ascending; the first one speaks for the host
};

class Hosts {
 public:
  // Ranks of one place are one host. Hosts that call themselves alike get "#2", "#3" behind the name.
  explicit Hosts(const RankTable& table);

  int number() const { return static_cast<int>(all_.size()); }
  const HostRanks& operator[](int host) const { return all_[static_cast<std::size_t>(host)]; }
  const std::vector<HostRanks>& all() const { return all_; }
  int leader(int host) const { return (*this)[host].ranks.front(); }
  int host_of(int rank) const { return host_of_[static_cast<std::size_t>(rank)]; }
  // Returns the numbers of all hosts.
  std::vector<int> everybody() const;
  // Returns all ranks of these hosts, ascending.
  std::vector<int> ranks_of(const std::vector<int>& hosts) const;

 private:
  std::vector<HostRanks> all_;
  std::vector<int> host_of_;
};

}  // namespace ccl_tests::acceptance
