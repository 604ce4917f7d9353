// A measurer that says how far a search is.
#pragma once

#include <vector>

#include "tools/acceptance/journal.hpp"
#include "tools/acceptance/measurer.hpp"
#include "tools/acceptance/progress.hpp"

namespace ccl_tests::acceptance {

// Forwards to another measurer, and tells the journal of each round. rounds: of the stage.
class ToldMeasurer : public PairMeasurer {
 public:
  // done: rounds of the stage so far, which it counts on.
  ToldMeasurer(PairMeasurer& inner, Journal& journal, const ExpectedRounds& rounds, double& done)
      : inner_(inner), journal_(journal), rounds_(rounds), done_(done) {}
  std::vector<PairTimes> measure(const Round& round) override {
    std::vector<PairTimes> times = inner_.measure(round);
    ++done_;
    ++own_;
    journal_.at(
        {"round", done_, static_cast<double>(rounds_.least), static_cast<double>(rounds_.most)});
    return times;
  }
  // The rounds so far come on top of those that are expected.
  bool enlarge() override {
    if (!inner_.enlarge()) return false;
    rounds_.least += own_;
    rounds_.most += own_;
    own_ = 0;
    return true;
  }

 private:
  PairMeasurer& inner_;
  Journal& journal_;
  ExpectedRounds rounds_;
  double& done_;
  std::size_t own_ = 0;  // rounds since the last enlarge()
};

}  // namespace ccl_tests::acceptance
