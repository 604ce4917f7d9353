// One pattern on one rank: a communicator, and the thread that drives it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "src/job/rank.hpp"
#include "src/run/benchmark_runner.hpp"
#include "tools/mesh/arguments.hpp"

namespace ccl_tests::mesh {

// How many calls a loop on another thread may make, so that all ranks end theirs after the same
// number: each holds its loop, the ranks exchange what hold() returned, and the largest is the end.
// Thread-safe.
class Gate {
 public:
  void open();                 // a new loop, without an end
  bool go_on();                // by the loop: waits while it is held; false: this is the end
  std::size_t hold();          // returns the calls that have begun; none begins from now on
  void finish(std::size_t n);  // the loop ends after n calls, at least as many as have begun
  bool wait_for_call();        // until the loop has begun a call; false: it ended instead
  void abandon();              // the loop ends now, held or not

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t begun_ = 0;
  bool held_ = false, abandoned_ = false;
  std::optional<std::size_t> last_;
};

// One rank's end of a pattern. Its thread does one piece of work at a time. A piece that throws ends
// the job (Rank::fail), so that pieces of other lanes fail instead of waiting for it.
class Lane {
 public:
  // Splits the world's channel, and starts the thread. Collective over all ranks. All must outlive
  // it. number: of the pattern among `patterns`.
  Lane(Rank& rank, const Arguments& arguments, std::size_t number, verify::PatternCache& patterns);
  ~Lane();  // waits for the thread
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // The following functions are collective over all ranks, return on rank 0 what was found, and throw
  // what the library, a peer or a limit throws.

  // Connects the library, takes its share of memory, makes the first call, which -c all verifies.
  PointRows connect(double share);
  // Measures the pattern. beside: what runs with it, for messages.
  PointRows measure(const std::string& beside);
  // Begins to make calls until end_loop(). Returns when each rank has begun some.
  void begin_loop(const std::string& beside);
  PointRows end_loop();
  void close();

  // Returns the pattern's groups. Valid as long as the lane.
  const RankGroups& groups() const { return groups_; }

 private:
  void begin(const std::string& beside, std::function<void()> work);
  void wait();  // until the work is done; throws what it threw
  void run();   // the thread
  void report(const std::string& what, Exit code);

  Rank& rank_;
  const Pattern& pattern_;
  Options options_;
  double turn_s_;
  RankGroups groups_;
  SweepPoint point_;
  verify::PatternCache& patterns_;
  std::unique_ptr<ControlChannel> channel_;
  Activity activity_;
  Rank own_;  // the rank as the lane's thread sees it
  std::unique_ptr<BenchmarkRunner> runner_;
  Gate gate_;
  PointRows found_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string where_;           // of the pattern and what runs with it
  std::function<void()> work_;  // empty: none
  bool leaving_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses all others
};

}  // namespace ccl_tests::mesh
