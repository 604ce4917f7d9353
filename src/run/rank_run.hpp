// One rank's part of a run: the sweep over types, operations, roots and sizes, in lockstep with the
// other ranks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/core/collective.hpp"
#include "src/core/communicator.hpp"
#include "src/core/control_channel.hpp"
#include "src/core/device.hpp"
#include "src/devices/devices.hpp"
#include "src/measure/batch.hpp"
#include "src/options/options.hpp"
#include "src/report/record.hpp"
#include "src/run/progress.hpp"
#include "src/run/row_bytes.hpp"
#include "src/run/slots.hpp"
#include "src/run/watchdog.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests {

// What a row does: a type, and an operation where the collective reduces.
using Kind = std::pair<DataType, std::optional<ReduceOp>>;

// What all ranks of a process share.
struct RunContext {
  const Collective& collective;
  const Options& options;
  const RankGroups& groups;        // process groups; of a paired collective the first round's pairs
  std::vector<PairRound> rounds;   // of a paired collective
  std::vector<std::size_t> sizes;  // after the memory limit
  verify::PatternCache& patterns;
  Progress& progress;
  bool one_machine = true;      // all ranks share CLOCK_MONOTONIC
  std::set<Kind> skipped = {};  // that the library has not on every rank
};

// A rank's places in the job: in the world, and in its group, where the collective runs. Without
// groups both are the same.
struct Membership {
  ControlChannel& world;
  ControlChannel& group;
  Communicator& world_communicator;  // for barriers: all groups begin together
  Communicator& communicator;
  Device& device;          // that the buffers lie on
  const Devices& devices;  // its kind
  std::string host;        // for diagnoses
};

// The kinds of rows that the options ask for.
std::vector<Kind> kinds_of(const Collective& collective, const Options& options);

class RankRun {
 public:
  // on_row(row, requested size) is called with the same row on every rank; on_wrong with a
  // diagnosis line, likewise.
  using OnRow = std::function<void(const Row&, std::size_t)>;
  using OnWrong = std::function<void(const std::string&)>;

  // pulse: beats with every operation.
  RankRun(const RunContext& context, Membership membership, Pulse& pulse);

  // Collective. Throws what the library or a peer throws.
  void sweep(const OnRow& on_row, const OnWrong& on_wrong);

 private:
  struct Case;     // one (groups, type, op, root, size) and everything derived from it
  struct Buffers;  // where one call's data lie
  struct Checked;  // what checking has found
  struct Batch;    // the timed calls of half a row

  void use_data_of(DataType type, std::optional<ReduceOp> op, const RankGroups& groups);
  void measure_rows(const RankGroups& groups, DataType type, std::optional<ReduceOp> op, int root,
                    std::size_t size, int cycle, const OnRow& on_row, const OnWrong& on_wrong);
  std::vector<Measurement> measure_cells(const Case& c, bool in_place, const OnWrong& on_wrong);
  double time_once(const Case& c, const Buffers& b);
  double run_untimed(const Case& c, bool in_place, Checked& checked);
  BatchTime run_timed(const Case& c, bool in_place, int iterations, Checked& checked);
  Batch prepare_batch(const Case& c, bool in_place, int iterations, Checked& checked);
  void prepare_slots(const Case& c, const Batch& batch);
  void issue_batch(const Batch& batch, std::size_t operation, Timeline* timeline);
  BatchTime time_issued(const Case& c, const Batch& batch, Timeline* timeline);
  BatchTime time_graph(const Case& c, const Batch& batch, Timeline* timeline, Checked& checked);
  void check_batch(const Case& c, const Batch& batch, bool repeated, Checked& checked);
  void check_barrier(const Case& c, Checked& checked);
  void learn_algorithms(const RankGroups& groups, const std::vector<std::string>& reports);
  std::vector<Measurement> conclude(const Case& c, bool in_place, int iterations,
                                    const BatchTime& time, const Checked& checked,
                                    const OnWrong& on_wrong);
  Row row_of(const Case& c, int group) const;
  static Shape shape_of(const Case& c, int group);
  GroupRank group_rank(const RankGroups& groups) const;

  Buffers out_of_place(const Case& c, std::size_t slot, std::size_t phase);
  Buffers in_place(const Case& c, const Buffer& buffer, std::size_t slot, std::size_t phase);
  void prepare(const Case& c, const Buffers& b);
  static Call call_on(const Case& c, const Buffers& b);
  void issue(const Call& call);
  void complete(const Case& c, std::size_t operations);
  double operation_limit(const Case& c) const;
  void check(const Case& c, const Buffers& b, Checked& checked) const;
  std::string say(const Case& c, bool in_place, const char* what) const;
  std::string say_pairs(const Case& c) const;

  const RunContext& context_;
  ControlChannel& world_;
  ControlChannel& group_;
  Communicator& world_communicator_;
  Communicator& communicator_;
  std::string host_;
  Pulse& pulse_;
  Buffer send_, recv_;
  std::unique_ptr<Registration> registrations_[2];
  std::unique_ptr<verify::Loops> loops_;
  std::unique_ptr<verify::Verifier> verifier_;
  std::unique_ptr<Operation> operation_;  // of the row that is measured
  std::vector<std::string> algorithms_;   // that the library chose for it, of each group
};

}  // namespace ccl_tests
