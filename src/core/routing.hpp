// Which experts the tokens of a mixture of experts go to: a rule by name, the same on every rank,
// library and machine. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ccl_tests {

// How tokens choose their experts. The names W0 to W5 are those of the workloads of Megatron-LM's
// token-imbalance benchmark (pull request 7488), which says what each isolates; the shares here are
// this suite's. Its W6 and W7 change from step to step, and a row repeats one step.
enum class RoutingKind {
  balanced,     // W0: every expert gets as many
  hot_experts,  // W1: an eighth of the experts, neighbours, get 4 times as many as each other one
  hot_rank,     // W2: the last rank's experts get 4 times as many
  spread_hot,   // W3: as W1, but far from each other
  ragged,       // W4: balanced, but rank r of n has 2 (r + 1) / (n + 1) times the mean of tokens
  idle_rank,    // W5: the last rank's experts get none
  lognormal,    // loads of experts exp(SIGMA z), z standard normal
  zipf,         // the k-th busiest expert k^-S
  maxvio,       // one expert gets 1 + X times the mean, the others as many each
  trace         // from a file
};

struct RoutingRule {
  RoutingKind kind = RoutingKind::balanced;
  double parameter = 0;                 // SIGMA, S or X
  std::vector<std::vector<int>> trace;  // a token each: its experts; repeated as needed
};

struct RoutingOptions {
  std::size_t hidden = 1024;  // elements of a token
  std::size_t top_k = 2;      // experts of a token
  std::size_t experts = 32;   // of all ranks together
  std::uint64_t seed = 1;
  std::string name = "balanced";
  RoutingRule rule;
};

// One step's routing over n ranks. Expert e lives on rank e n / experts (rounded down): neighbours
// together. Tokens are numbered over all ranks, and a token's experts depend on its number, the
// rule, the seed, top_k and experts only (hot_rank and idle_rank: also on n).
class Routing {
 public:
  // tokens: the mean of all ranks. The options outlive it.
  Routing(const RoutingOptions& options, int ranks, std::size_t tokens);

  // Returns why the rule cannot be followed here, or an empty string.
  static std::string why_not(const RoutingOptions& options, int ranks);

  int ranks() const { return ranks_; }
  std::size_t top_k() const { return options_.top_k; }
  std::size_t tokens(int rank) const;       // of one rank
  std::size_t first_token(int rank) const;  // its first token's number
  int home(int expert) const;               // the rank of an expert
  int first_expert(int rank) const;         // of rank n: the number of experts

  // Writes the top_k distinct experts of a token, in the order of its choice.
  void choose(std::size_t token, std::span<int> experts) const;
  // Returns the weights 1, 2 or 3 with which combine takes the k-th expert's result. Neighbours
  // differ.
  int weight(std::size_t token, std::size_t k) const;

 private:
  void draw(std::size_t token, std::span<int> experts) const;

  const RoutingOptions& options_;
  int ranks_;
  std::size_t tokens_;
  std::vector<std::uint64_t> upper_;  // sums of the experts' shares; empty: no draws
};

// The load of a step.
struct RoutingLoad {
  double expert = 0;            // tokens of the busiest expert over the mean: maxvio + 1
  double rank = 0;              // (token, expert) pairs of the busiest rank over the mean
  std::size_t wire_tokens = 0;  // that leave their rank, once for each rank with experts of theirs
  std::size_t busiest_tokens = 0;  // the most that one rank sends to others, or receives
  std::size_t busiest_pairs = 0;   // (token, expert) pairs of the busiest rank
};
RoutingLoad load_of(const Routing& routing, std::size_t experts);

}  // namespace ccl_tests
