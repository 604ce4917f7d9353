// Records as an acceptance run leaves them, for the tests of its writers and for looking at its page.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance::test {

inline constexpr double begin_s = 1795418626;  // 2026-11-23 07:23:46 UTC
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline Host host(const std::string& name, int number, int ranks_each) {
  Host made{name};
  for (int i = 0; i < ranks_each; ++i) made.ranks.push_back(number * ranks_each + i);
  made.facts = {{"kernel", "6.8.0-45-generic"},
                {"driver", "570.124.06"},
                {"nic", "mlx5 400 Gbit/s, firmware 28.43.2026"},
                {"pcie", "x16 at 32 GT/s"},
                {"cpus", "2 x 56"},
                {"memory", "2 TiB"},
                {"NCCL_IB_HCA", "mlx5_0,mlx5_3"},
                {"address", fmt::format("10.0.0.{}", number + 1)}};
  return made;
}

// Times of all pairs with some noise, as of a fabric of 45 GB/s.
inline PairMatrix pairs(std::size_t hosts, std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.03);
  PairMatrix made{bytes};
  made.seconds.assign(hosts, std::vector<double>(hosts, not_a_number));
  for (std::size_t from = 0; from < hosts; ++from)
    for (std::size_t to = 0; to < hosts; ++to)
      if (from != to)
        made.seconds[from][to] =
            (8e-6 + static_cast<double>(bytes) / 45e9) * std::exp(noise(random));
  return made;
}

inline Curve curve(const std::string& program, int ranks, double top, double slow_from,
                   double factor) {
  Curve made{"full", program, "float", ranks};
  for (std::size_t bytes = 1024; bytes <= (std::size_t{1} << 30); bytes *= 4) {
    const auto size = static_cast<double>(bytes);
    double busbw = size / (45e-6 + size / top);
    const double limit = size >= (1 << 24) ? 0.85 * size / (45e-6 + size / top) : 0;
    if (size >= slow_from) busbw *= factor;
    const double width = size < 65536 ? 0.12 : 0.02;
    made.points.push_back({bytes, busbw, busbw * (1 - width), busbw * (1 + width), limit});
  }
  return made;
}

// Eight hosts of eight GPUs: node5 sends slowly, the link node1-node6 is slow.
inline Record sample() {
  Record made;
  made.plan = "h100-400g";
  made.version = "0.1.0";
  made.backend = "nccl";
  made.library = "2.26.2";
  made.launcher = "srun";
  made.command = "ccl_acceptance h100-400g --verdict verdict.json --report report.html";
  made.seed = 17;
  made.begin_s = begin_s;
  made.end_s = begin_s + 312;
  made.complete = true;
  made.verdict = Verdict::fail;
  made.reason = "SLOW_HOST";
  for (int i = 0; i < 8; ++i) made.hosts.push_back(host(fmt::format("node{}", i), i, 8));
  made.hosts[5].facts["pcie"] = "x8 at 32 GT/s";
  made.hosts[2].facts["driver"] = "565.57.01";
  made.hosts[7].facts.erase("NCCL_IB_HCA");
  made.stages = {
      {"sanity", Verdict::pass, "init, barrier, all programs and types at odd counts", begin_s,
       begin_s + 21},
      {"node", Verdict::pass, "each host alone, all at once", begin_s + 21, begin_s + 60},
      {"pairs", Verdict::fail, "24 random rounds of 4 pairs, two confirmations", begin_s + 60,
       begin_s + 131},
      {"full", Verdict::warn, "five programs over all ranks, 1 KiB to 1 GiB", begin_s + 131,
       begin_s + 232},
      {"again", Verdict::pass, "the full test without node5", begin_s + 232, begin_s + 305},
      {"soak", Verdict::skipped, "not in this plan", 0, 0}};
  made.checks = {
      {"sanity/all_reduce/float",
       "sanity",
       "run",
       Verdict::pass,
       "OK",
       "all results are right",
       {{"verified_calls", 2194}},
       begin_s,
       begin_s + 9},
      {"pairs/host/node5",
       "pairs",
       "host node5",
       Verdict::fail,
       "SLOW_HOST",
       "sends 1.56 times slower than its peers, in both confirmations",
       {{"slowdown", 1.56},
        {"slowdown_low", 1.49},
        {"slowdown_high", 1.63},
        {"busbw", 28.8e9, "B/s"},
        {"limit", 41.4e9, "B/s"},
        {"peers", 45e9, "B/s"}},
       begin_s + 95,
       begin_s + 131},
      {"pairs/link/node1-node6",
       "pairs",
       "link node1-node6",
       Verdict::warn,
       "SLOW_LINK",
       "is 2.1 times slower than other links, the ends are not slow elsewhere",
       {{"slowdown", 2.1}, {"slowdown_low", 1.9}, {"slowdown_high", 2.3}},
       begin_s + 110,
       begin_s + 131},
      {"full/all_reduce/1G",
       "full",
       "run",
       Verdict::warn,
       "BELOW_LIMIT",
       "all_reduce 1 GiB 231 of 335 GB/s; passes without node5",
       {{"busbw", 231e9, "B/s"},
        {"busbw_low", 228e9, "B/s"},
        {"busbw_high", 234e9, "B/s"},
        {"limit", 335e9, "B/s"},
        {"size", 1073741824, "B"}},
       begin_s + 140,
       begin_s + 190},
      {"full/again/all_reduce/1G",
       "again",
       "run",
       Verdict::pass,
       "OK",
       "all_reduce 1 GiB 351 of 335 GB/s without node5",
       {{"busbw", 351e9, "B/s"}, {"limit", 335e9, "B/s"}},
       begin_s + 240,
       begin_s + 290},
      {"soak", "soak", "run", Verdict::skipped, "NOT_IN_PLAN", "the plan has no soak", {}, 0, 0}};
  for (int i = 0; i < 8; ++i) {
    const std::string name = fmt::format("node{}", i);
    made.checks.push_back({"node/" + name,
                           "node",
                           "host " + name,
                           Verdict::pass,
                           "OK",
                           "all_reduce 1 GiB within the host is as its peers'",
                           {{"busbw", 362e9 + 1e9 * i, "B/s"}, {"limit", 340e9, "B/s"}},
                           begin_s + 25,
                           begin_s + 58});
  }
  made.pairs = {pairs(8, 65536, 1), pairs(8, std::size_t{64} << 20, 2)};
  for (std::size_t to = 0; to < 8; ++to) made.pairs[1].seconds[5][to] *= 1.56;
  for (PairMatrix& matrix : made.pairs)
    for (double* seconds : {&matrix.seconds[1][6], &matrix.seconds[6][1]}) *seconds *= 2.1;
  made.pairs[0].seconds[3][4] = not_a_number;
  made.pairs.push_back(pairs(8, std::size_t{64} << 20, 4));
  made.pairs[2].rail = 1;
  made.curves = {curve("all_reduce_perf", 64, 360e9, 1 << 24, 0.64),
                 curve("all_gather_perf", 64, 350e9, 1 << 30, 0.98),
                 curve("reduce_scatter_perf", 64, 340e9, 1 << 30, 1),
                 curve("alltoall_perf", 16, 48e9, 1e12, 1),
                 curve("alltoall_perf", 32, 44e9, 1e12, 1),
                 curve("alltoall_perf", 64, 41e9, 1e12, 1)};
  for (std::size_t i = 3; i < 6; ++i) made.curves[i].stage = "ladder";
  made.curves[2].points[4].busbw = not_a_number;
  made.excluded = {"node5"};
  return made;
}

// 256 hosts in 16 racks, of which three are slow; a tournament of all pairs, with gaps.
inline Record many_hosts() {
  Record made = sample();
  made.hosts.clear();
  for (int i = 0; i < 256; ++i)
    made.hosts.push_back(host(fmt::format("rack{:02}-node{:03}", i / 16, i), i, 1));
  made.hosts[200].facts["kernel"] = "6.5.0-41-generic";
  PairMatrix matrix = pairs(256, 1 << 20, 3);
  for (std::size_t from = 0; from < 256; ++from)
    for (std::size_t to = 0; to < 256; ++to) {
      double& seconds = matrix.seconds[from][to];
      if (from / 16 != to / 16) seconds *= 1.18;
      if (from == 77) seconds *= 1.6;
      if (to == 130 || from == 131) seconds *= 1.35;
      if ((from + to) % 11 == 0) seconds = not_a_number;
    }
  made.pairs = {matrix};
  made.excluded = {"rack04-node077", "rack08-node130", "rack08-node131"};
  made.checks.resize(1);
  for (const std::string& name : made.excluded)
    made.checks.push_back({"pairs/host/" + name,
                           "pairs",
                           "host " + name,
                           Verdict::fail,
                           "SLOW_HOST",
                           "is slower than its peers, in both confirmations",
                           {{"slowdown", 1.35}},
                           begin_s + 95,
                           begin_s + 131});
  for (int i = 0; i < 40; ++i)
    made.checks.push_back({fmt::format("node/{}", i),
                           "node",
                           fmt::format("host rack00-node{:03}", i % 16),
                           i < 20 ? Verdict::warn : Verdict::pass,
                           "NOISY",
                           "its times vary by 12 % between repeats",
                           {},
                           begin_s,
                           begin_s + 9});
  return made;
}

// Texts that would end an element, an attribute or a line.
inline Record hostile() {
  Record made = sample();
  const std::string bad = "<b a=\"1\" b='2'>&amp;\n\x1b[31m\xff</b><script>alert(1)</script>";
  made.plan = made.version = made.backend = made.library = made.launcher = made.command = bad;
  made.reason = bad;
  for (Host& one : made.hosts) {
    one.name = bad + one.name;
    one.facts[bad] = one.name;
  }
  for (Stage& stage : made.stages) stage.name = stage.text = bad;
  for (Check& check : made.checks) {
    check.id = check.stage = check.subject = check.reason = check.text = bad;
    check.numbers.push_back({bad, 1, bad});
  }
  for (Curve& one : made.curves) one.stage = one.program = one.type = bad;
  made.excluded = {bad};
  return made;
}

// Numbers that were not measured, everywhere.
inline Record unmeasured() {
  Record made = sample();
  made.begin_s = made.end_s = not_a_number;
  for (Stage& stage : made.stages) stage.begin_s = stage.end_s = not_a_number;
  for (Check& check : made.checks) {
    check.begin_s = check.end_s = not_a_number;
    for (Number& number : check.numbers) number.value = not_a_number;
  }
  for (PairMatrix& matrix : made.pairs)
    for (std::vector<double>& row : matrix.seconds)
      for (double& seconds : row) seconds = not_a_number;
  for (Curve& one : made.curves)
    for (CurvePoint& point : one.points)
      point = {point.bytes, not_a_number, not_a_number, not_a_number, not_a_number};
  return made;
}

inline Record one_host() {
  Record made = sample();
  made.hosts.resize(1);
  made.pairs = {PairMatrix{1 << 20, {{not_a_number}}}};
  made.checks.resize(1);
  made.stages.resize(2);
  made.curves.resize(2);
  made.curves[1].points.resize(1);
  made.excluded.clear();
  made.verdict = Verdict::pass;
  made.reason = "OK";
  return made;
}

// Six healthy hosts, of which nothing says how fast they should be.
inline Record relative() {
  Record made = sample();
  made.plan = "quick";
  made.launcher = "mpirun (Open MPI)";
  made.command = "ccl_acceptance quick --backend gloo";
  made.hosts.clear();
  for (int i = 0; i < 6; ++i) made.hosts.push_back(host(fmt::format("node{}", i), i, 1));
  PairMatrix matrix{std::size_t{1} << 20, {6, std::vector<double>(6, 0.025)}};
  matrix.seconds[0][1] = 0.0218;
  made.pairs = {matrix};
  made.curves.clear();
  made.excluded.clear();
  made.verdict = Verdict::pass;
  made.reason = "OK";
  made.checks = {{"pairs/hosts", "pairs", "run", Verdict::pass, "OK", "20 rounds of 1M"},
                 {"pairs/rate",
                  "pairs",
                  "run",
                  Verdict::skipped,
                  "NO_CEILING",
                  "41.9 MB/s between hosts",
                  {{"bandwidth", 41.94e6, "B/s"}, {"limit", 0, "B/s"}}},
                 {"limits/ceiling", "limits", "run", Verdict::skipped, "NO_CEILING",
                  "all hosts may be slow alike"}};
  return made;
}

// A run that was killed in its third stage: all that was looked at passed.
inline Record incomplete() {
  Record made = sample();
  made.complete = false;
  made.stages.resize(2);
  made.checks.resize(1);
  made.pairs.clear();
  made.curves.clear();
  made.excluded.clear();
  made.verdict = Verdict::pass;
  return made;
}

}  // namespace ccl_tests::acceptance::test
