// The record of an acceptance run while it grows, and its file.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "src/job/ranks.hpp"
#include "tools/acceptance/progress.hpp"
#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// The journal of rank 0; that of the rank which speaks if rank 0 is gone has the header alone. Thread-safe: a run that
// ends early is closed from another thread.
class Journal {
 public:
  // file: gets the record after each check, written beside it and renamed; empty: none. tell: is given a
  // line for people when a stage begins and ends, and for each check that is not PASS.
  Journal(std::string file, std::function<void(const std::string&)> tell);

  // Writes the file as that of a run that has not reached its end. Throws UsageError.
  void mark_unfinished();
  // Called before anything is measured.
  void begin(Record header);
  bool measures() const;  // a stage has begun, other than those of resume()
  // Takes over the stages that `before` has ended, with what they found, after begin(). Throws UsageError
  // if it is of another plan, library or other hosts.
  void resume(const Record& before);
  // Called after resume() with what is to be run: lines of tell then say how much is left. The file is written from now
  // on: throws UsageError if it cannot be; begin_stage(), add() and end_stage() then throw Error.
  void expect(std::vector<PlannedStage> stages);
  // Returns whether a stage has ended, in this run or in the one that it resumes.
  bool has(const std::string& stage) const;
  // Stages may lie within each other: what is added belongs to the innermost one.
  void begin_stage(const std::string& name, const std::string& text);
  void at(const Part& part);  // what is done of the innermost one
  void add(Check check);      // its stage and times are the journal's
  void add(std::string id, Verdict verdict, std::string reason, std::string text,
           std::string subject = "run");
  void end_stage();
  // Sets what a host says of itself. host: its place in the record.
  void describe_host(std::size_t host, const std::map<std::string, std::string>& facts);
  void add(PairMatrix matrix);
  void add(Curve curve);
  void exclude(const std::string& host);
  // The last stage has ended.
  void complete();
  // Closes what is open, writes the file, and returns the record, judged. Does not throw: see write_error().
  Record end(const RanksEnd& end);
  // Why end() could not write the file; empty: it could.
  const std::string& write_error() const { return write_error_; }

  // Returns the record so far, judged.
  Record record() const;

 private:
  // Called under the mutex.
  void keep(Check check, const std::string& stage, double begin_s);
  void keep_failure(const RanksEnd& end);
  void write() const;

  std::string file_;
  std::function<void(const std::string&)> tell_;
  mutable std::mutex mutex_;
  Record record_;
  std::string write_error_;
  bool measures_ = false;
  std::vector<std::size_t> open_;  // stages, the innermost last
  Progress progress_;
};

}  // namespace ccl_tests::acceptance
