// The hosts of a run, and all its ranks: rank 0 says what they do next, the others do it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/capabilities.hpp"
#include "src/core/error.hpp"
#include "src/core/rank_pair.hpp"
#include "src/job/rank.hpp"
#include "src/job/rank_table.hpp"
#include "src/run/benchmark_runner.hpp"
#include "verify/pattern.hpp"

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

// What rank 0 can ask all ranks for.
struct Order {
  std::string what = {};                      // "groups", "rows", "times", "ask", "end"
  std::vector<std::vector<int>> groups = {};  // ranks of the job: of "groups" and "times"
  std::string program = {};                   // of "rows": without _perf; of "times": one_way
  std::string question = {};                  // of "ask"
  DataType type = DataType::float32;
  std::optional<ReduceOp> op = {};
  std::size_t bytes = 0;
  bool every_call = false;  // of "rows": few calls, all verified
};

// Answers a question of rank 0 about this rank's host or process. On the rank's thread.
using Answers = std::function<std::string(const std::string& question)>;

// What was asked for does not fit into the memory of some rank. All ranks know that, and wait for the next order.
class TooLarge : public Unsupported {
 public:
  using Unsupported::Unsupported;
};

// Used by the rank's thread. Throws what the library, a peer or a limit throws.
class Team {
 public:
  // Collective: connects all ranks. patterns: shared by the ranks of a process; all outlive it.
  Team(Rank& rank, const Options& options, verify::PatternCache& patterns, Answers answers);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  Rank& rank() { return rank_; }
  const CollectiveOptions& spec() const { return options_.spec; }
  const Capabilities& library() const;

  // On all ranks but 0: does what rank 0 asks for, until end().
  void follow();

  // The rest on rank 0 alone. Rows and times throw TooLarge, too.

  // Forms groups, with a communicator each; ranks that none names rest. Empty: all ranks are one group.
  void use_groups(std::vector<std::vector<int>> groups);
  // Returns a verified row of each group, out of up to budget_s seconds of timed calls a time.
  PointRows rows(std::string_view program, DataType type, std::optional<ReduceOp> op,
                 std::size_t bytes, double budget_s);
  // Returns a row of each group of few calls, all of them verified, whose times mean nothing.
  PointRows checked_rows(std::string_view program, DataType type, std::optional<ReduceOp> op,
                         std::size_t bytes);
  // Returns the time of a message from the first to the second rank of each pair, all at the same
  // time, with its stamps; not verified.
  std::vector<Measurement> times(const std::vector<RankPair>& pairs, std::size_t bytes,
                                 double budget_s);
  // Returns every rank's answer.
  std::vector<std::string> ask(const std::string& question);
  void end();

 private:
  struct Done {
    PointRows rows;
    std::vector<Measurement> times;
    std::vector<std::string> answers;
    std::string too_large;  // why; empty: it is not
  };
  Options options_of(const Order& order) const;
  Done order(const Order& order);
  Done carry_out(const Order& order);
  void connect(const std::vector<std::vector<int>>& groups);
  // Throws TooLarge, on all ranks alike.
  void make_room(const Collective& collective, DataType type, std::size_t bytes,
                 const RankGroups& groups);

  Rank& rank_;
  Options given_;
  Options options_;  // of the order that is carried out
  verify::PatternCache& patterns_;
  Answers answers_;
  std::unique_ptr<RankGroups> groups_;
  std::unique_ptr<BenchmarkRunner> runner_;
  RankTable table_;          // with the memory that is free beside the library's
  std::string room_;         // what memory is reserved for
  bool whole_ = true;        // all ranks are one group
  bool one_by_one_ = false;  // operations are timed singly
  bool ended_ = false;
};

// Returns why the team cannot run a program on any row: its library lacks an operation, or its buffers lie in the
// wrong memory. Returns nullopt if it can.
std::optional<std::string> why_never(const Collective& program, Team& team);

// Why the team's library cannot run the usual rows of a program on so many ranks; nullopt: it can.
std::optional<std::string> why_not(const Collective& program, Team& team, int ranks);

}  // namespace ccl_tests::acceptance
