// Noise of simulated launches, taken from rounds that healthy hosts really measured.
#pragma once

#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/core/error.hpp"
#include "src/measure/statistics.hpp"
#include "tests/unit/acceptance_noise.hpp"

namespace ccl_tests::acceptance::test {

// The rounds of one healthy launch, in the order of time. A round has ln(seconds) of what each host
// sent, less the median of the file.
struct Recording {
  std::vector<std::map<int, double>> rounds;
  std::vector<int> hosts;
};

// Reads rows `round,from,to,seconds` after one line of header. Rounds are in ascending order.
// Throws UsageError if the file has no such rows.
inline Recording read_recording(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  std::map<long, std::map<int, double>> rounds;
  std::map<int, int> hosts;
  std::vector<double> all;
  char comma = 0;
  long round = 0;
  int from = 0, to = 0;
  double seconds = 0;
  while (in >> round >> comma >> from >> comma >> to >> comma >> seconds) {
    if (!(seconds > 0)) continue;  // missing
    rounds[round][from] = std::log(seconds);
    ++hosts[from];
    all.push_back(std::log(seconds));
  }
  if (all.empty()) throw UsageError(file + ": has no rows round,from,to,seconds");
  const double middle = median(all);
  Recording recording;
  for (auto& [number, values] : rounds) {
    for (auto& [host, value] : values) value -= middle;
    recording.rounds.push_back(std::move(values));
  }
  for (const auto& [host, count] : hosts) recording.hosts.push_back(host);
  return recording;
}

// Whole rounds in the order of time, from a random one on, of hosts relabelled at random. Single
// times drawn apart would lose what hosts and rounds share, and make false names look rare.
class RecordedNoise : public NoiseSource {
 public:
  // Throws UsageError if fewer hosts were recorded than there are to be.
  RecordedNoise(const Recording& recording, std::size_t hosts, Random& random)
      : recording_(recording), label_(recording.hosts) {
    if (label_.size() < hosts) throw UsageError("fewer hosts were recorded than are simulated");
    shuffle(label_, random);
    at_ = below(random, recording_.rounds.size());
  }
  void next_round(double rounds, Random& random) override {
    at_ += static_cast<std::size_t>(std::lround(rounds));
    if (at_ >= recording_.rounds.size()) at_ = below(random, recording_.rounds.size());
  }
  double of(int from, int /*to*/, double sending, double receiving, Random& random) override {
    const std::map<int, double>& round = recording_.rounds[at_];
    auto sent = round.find(label_[static_cast<std::size_t>(from)]);
    if (sent == round.end())  // idle in this round
      sent = std::next(round.begin(), static_cast<std::ptrdiff_t>(below(random, round.size())));
    return sent->second + std::max(sending, receiving);
  }

 private:
  const Recording& recording_;
  std::vector<int> label_;
  std::size_t at_ = 0;
};

}  // namespace ccl_tests::acceptance::test
