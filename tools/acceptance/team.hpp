// The hosts of a run and all its ranks, of which rank 0 says what they do next, and the programs that they run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/run/benchmark_runner.hpp"
#include "tools/acceptance/host/probe.hpp"
#include "tools/acceptance/record.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests::acceptance {

// Returns the program of that name, without _perf. Throws Error if there is none.
const Collective& program_named(std::string_view name);

// Returns what rows are of if nobody asks for more: float, or the first type that the program has.
DataType usual_type(const Collective& program);
std::optional<ReduceOp> usual_op(const Collective& program);  // nullopt: nothing is reduced

// The results of a run, by its rows.
class Verified {
 public:
  void add(const PointRows& found);
  std::uint64_t calls() const { return verified_; }

  // Returns a check that passes if some calls were verified and all elements are right. subject: what its text
  // begins with, or nothing.
  Check check(const std::string& id, const std::string& subject = {}) const;

 private:
  std::size_t rows_ = 0;
  std::uint64_t calls_ = 0, verified_ = 0;
  std::string wrong_;  // the first finding, with "wrong: " before it
};

// The hosts of a job, without their facts.
class Hosts {
 public:
  // Ranks of one place are one host. Hosts that call themselves alike get "#2", "#3" behind the name.
  explicit Hosts(const RankTable& table);

  int number() const { return static_cast<int>(all_.size()); }
  const Host& operator[](int host) const { return all_[static_cast<std::size_t>(host)]; }
  const std::vector<Host>& all() const { return all_; }
  int most_ranks() const;              // of one host
  std::vector<int> everybody() const;  // the numbers of all hosts
  // Returns what the first rank of each host has in a list of all ranks.
  template <class T>
  std::vector<T> of_leaders(const std::vector<T>& by_rank) const {
    std::vector<T> by_host;
    for (const Host& host : all_)
      by_host.push_back(by_rank.at(static_cast<std::size_t>(host.ranks.front())));
    return by_host;
  }
  // Returns one group of all ranks of these hosts, for Team::use_groups().
  std::vector<std::vector<int>> group_of(const std::vector<int>& hosts) const;
  // Returns all ranks of these hosts, ascending.
  std::vector<int> ranks_of(const std::vector<int>& hosts) const;

 private:
  std::vector<Host> all_;
};

// The orders of rank 0 to all ranks. Groups and pairs are of the job's ranks.
struct UseGroups {
  std::vector<std::vector<int>> groups = {};  // empty: all ranks are one
};
struct MeasureRows {
  std::string program = {};  // without _perf
  DataType type = DataType::float32;
  std::optional<ReduceOp> op = {};
  std::size_t bytes = 0;
  bool every_call = false;  // few calls, all of them verified
};
struct TimeMessages {
  std::vector<std::vector<int>> pairs = {};
  std::size_t bytes = 0;
};
struct DescribeHost {
  std::string interface = {};  // as HostProbe::describe
};
struct ReadCounters {};
struct End {};
using Order = std::variant<UseGroups, MeasureRows, TimeMessages, DescribeHost, ReadCounters, End>;

// The memory of some rank is too small for an order. All ranks know that, and wait for the next one.
class TooLarge : public Unsupported {
 public:
  using Unsupported::Unsupported;
};

// Used by the rank's thread. Throws what the library, a peer or a limit throws.
class Team {
 public:
  // Collective: connects all ranks. patterns: shared by the ranks of a process; all outlive it.
  Team(Rank& rank, const Options& options, verify::PatternCache& patterns, const HostProbe& host);

  Rank& rank() { return rank_; }
  const CollectiveOptions& spec() const { return options_.spec; }
  const Capabilities& library() const;

  // Does what rank 0 orders, until end(). Called on all other ranks.
  void follow();

  // The rest on rank 0 alone. Rows and times throw TooLarge, too.

  // Forms groups, with a communicator each; ranks that none names rest. Empty: all ranks are one group.
  void use_groups(std::vector<std::vector<int>> groups);
  // Returns a verified row of each group, of the usual type, out of up to budget_s seconds of timed calls a time.
  PointRows rows(const Collective& program, std::size_t bytes, double budget_s);
  // Returns a row of each group of few calls, all of them verified, whose times mean nothing.
  PointRows checked_rows(const Collective& program, DataType type, std::optional<ReduceOp> op,
                         std::size_t bytes);
  // Returns the time of a message from the first to the second rank of each pair, all at the same
  // time, with its stamps; not verified.
  std::vector<Measurement> times(std::vector<std::vector<int>> pairs, std::size_t bytes,
                                 double budget_s);
  // Return what every rank learns about its host.
  std::vector<HostDescription> descriptions(const std::string& interface = {});
  std::vector<Counters> counters();
  void end();

 private:
  // Tells the other ranks, and does it here.
  template <class OneOrder>
  auto order(const OneOrder& order);
  // Each carries out an order on this rank, and returns the result on rank 0.
  void carry_out(const UseGroups& order);
  PointRows carry_out(const MeasureRows& order);
  std::vector<Measurement> carry_out(const TimeMessages& order);
  std::vector<HostDescription> carry_out(const DescribeHost& order);
  std::vector<Counters> carry_out(const ReadCounters& order);
  void carry_out(const End& order);
  // Makes room for a point of a program, and returns it. Throws TooLarge, on all ranks alike.
  SweepPoint prepare(const Collective& collective, const MeasureRows& row,
                     const RankGroups& groups);

  Rank& rank_;
  Options given_;
  Options options_;  // of the order that is carried out
  verify::PatternCache& patterns_;
  const HostProbe& host_;
  std::unique_ptr<RankGroups> groups_;
  std::unique_ptr<BenchmarkRunner> runner_;
  RankTable table_;          // with the memory that is free beside the library's
  std::string room_;         // what memory is reserved for
  bool whole_ = true;        // all ranks are one group
  bool one_by_one_ = false;  // operations are timed singly
  bool ended_ = false;
};

// Returns why the team can run no row of a program: the library lacks an operation, or buffers lie in the wrong memory.
std::optional<std::string> why_never(const Collective& program, Team& team);

// Why the team's library cannot run the usual rows of a program on so many ranks; nullopt: it can.
std::optional<std::string> why_not(const Collective& program, Team& team, int ranks);

}  // namespace ccl_tests::acceptance
