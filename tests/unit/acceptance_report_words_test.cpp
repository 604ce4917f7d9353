// Numbers, headlines and what is wrong, in words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/error.hpp"
#include "tests/unit/acceptance_sample.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {
namespace {

using test::not_a_number;
using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(AcceptanceWords, Shortened) {
  EXPECT_EQ(shortened("as it is", 8), "as it is");
  EXPECT_EQ(shortened("a word and another", 13), "a word and...");
  EXPECT_EQ(shortened("abcdefghij", 8), "abcde...");
  EXPECT_EQ(shortened("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 6),
            "\xc3\xa4...");  // never half of a character
  EXPECT_EQ(shortened("abcdef", 2), "..");
  EXPECT_EQ(shortened("abcdef", 0), "");
}

TEST(AcceptanceWords, Numbers) {
  EXPECT_EQ(rate_text(231e9), "231 GB/s");
  EXPECT_EQ(rate_text(999.6e9), "1 TB/s");
  EXPECT_EQ(rate_text(5e16), "50000 TB/s");
  EXPECT_EQ(rate_text(0), "0 B/s");
  EXPECT_EQ(number_text({"x", not_a_number, "B/s"}), "not measured");
  EXPECT_EQ(number_text({"x", 1.2e-3, "s"}), "1.2 ms");
  EXPECT_EQ(number_text({"x", 65536, "B"}), "64 KiB");
  EXPECT_EQ(number_text({"x", -1, "B"}), "-1 B");
  EXPECT_EQ(number_text({"x", 2194}), "2194");
  EXPECT_EQ(number_text({"x", 1.5625}), "1.56");
}

TEST(AcceptanceWords, Times) {
  EXPECT_EQ(duration_text(100, 100.4), "0.4 s");
  EXPECT_EQ(duration_text(100, 159.6), "1 min 00 s");
  EXPECT_EQ(duration_text(100, 3820), "1 h 02 min");
  EXPECT_EQ(duration_text(100, 99), "unknown");
  EXPECT_EQ(duration_text(0, 0), "unknown");
  EXPECT_EQ(duration_text(not_a_number, 3), "unknown");
}

TEST(AcceptanceWords, IntervalsAreOneLine) {
  EXPECT_THAT(quantities({{"slowdown", 1.56},
                          {"slowdown_low", 1.49},
                          {"slowdown_high", 1.63},
                          {"gap_low", 1},
                          {"gap_high", 2},
                          {"below_low", 3}}),
              ElementsAre("slowdown 1.56 [1.49, 1.63]", "gap 1 to 2", "below low 3"));
}

TEST(AcceptanceHeadline, NamesTheDecidingCheck) {
  EXPECT_EQ(headline(test::sample()),
            "FAIL node5: sends 1.56 times slower than its peers, in both confirmations");
}

TEST(AcceptanceHeadline, IsNeverLongerThan80BytesNorTwoLines) {
  Record record = test::sample();
  record.checks[1].subject = "host " + std::string(300, 'n');
  record.checks[1].text = "one\ntwo " + std::string(300, 'x');
  const std::string line = headline(record);
  EXPECT_LE(line.size(), headline_bytes);
  EXPECT_THAT(line, StartsWith("FAIL nnn"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  for (const Record& one : {test::hostile(), test::many_hosts(), test::unmeasured(), Record{}})
    EXPECT_LE(headline(one).size(), headline_bytes);
}

TEST(AcceptanceHeadline, SaysInconclusiveOfWhatProvesNothing) {
  EXPECT_EQ(headline({}), "INCONCLUSIVE run: nothing was measured");
  EXPECT_EQ(headline(test::incomplete()), "INCONCLUSIVE run: ended early, after 1 check");
  Record record = test::one_host();
  EXPECT_EQ(headline(record), "PASS 1 host, 8 ranks: 1 check in 2 stages");
  record.checks[0].verdict = Verdict::skipped;
  EXPECT_THAT(headline(record), StartsWith("INCONCLUSIVE "));
  record = test::one_host();
  record.checks.clear();
  EXPECT_EQ(shown_verdict(record), Verdict::inconclusive);
}

TEST(AcceptanceHeadline, SaysWhatARelativePassDoesNotShow) {
  Record record = test::relative();
  EXPECT_EQ(headline(record),
            "PASS (relative): 6 hosts alike, best pair 48.1 MB/s; all slow? --min-bandwidth");
  record.pairs.clear();
  EXPECT_EQ(headline(record),
            "PASS (relative): 6 hosts, results right; no limit of their speed is given");
  record.hosts.resize(1);
  EXPECT_EQ(headline(record),
            "PASS (relative): 1 host, results right; its speed was compared with nothing");
  EXPECT_LE(headline(record).size(), headline_bytes);
  record.checks.back().reason = "OK";
  EXPECT_EQ(headline(record), "PASS 1 host, 1 rank: 3 checks in 6 stages");
  record = test::relative();
  record.checks.back().verdict = record.verdict = Verdict::inconclusive;  // --strict
  EXPECT_FALSE(is_relative(record));
  EXPECT_THAT(headline(record), StartsWith("INCONCLUSIVE run: all hosts may be slow alike"));
}

TEST(AcceptanceNext, IsACommandWithTheNumberSeenAndTheLauncher) {
  Record record = test::relative();
  const std::string hosts = "node0:1,node1:1,node2:1,node3:1,node4:1,node5:1";
  const std::string asks = "mpirun -n 6 --host " + hosts +
                           " ccl_acceptance quick --backend gloo --min-bandwidth 37.7MB/s";
  EXPECT_EQ(next_step(record).command, asks);
  EXPECT_EQ(next_step(record).what,
            "say what a pair of hosts should reach; half of the pairs reached 41.9 MB/s");
  record.checks.back().verdict = record.verdict = Verdict::inconclusive;
  EXPECT_EQ(next_step(record).command, asks);
  record = test::relative();
  record.checks.back().reason = "OK";
  EXPECT_EQ(next_step(record).what, "keep the verdict file, to look back at");
  EXPECT_EQ(next_step(record).command, "");
}

TEST(AcceptanceNext, LeavesOutWhoIsBad) {
  Record record = test::relative();
  record.verdict = Verdict::fail;
  record.checks[0].verdict = Verdict::fail;
  record.excluded = {"node4"};
  record.launcher = "mpirun (MPICH)";
  EXPECT_EQ(next_step(record).command,
            "mpirun -n 5 -hosts node0:1,node1:1,node2:1,node3:1,node5:1 ccl_acceptance quick "
            "--backend gloo");
  record.launcher = "srun";
  EXPECT_EQ(next_step(record).command,
            "srun -N 5 --ntasks-per-node=1 --exclude=node4 ccl_acceptance quick --backend gloo");
  record.launcher = "torchrun";
  EXPECT_EQ(next_step(record).command, "ccl_acceptance quick --backend gloo");
  for (int i = 6; i < 40; ++i) record.hosts.push_back(test::host(fmt::format("node{}", i), i, 1));
  record.launcher = "mpirun (Open MPI)";
  EXPECT_EQ(next_step(record).command, "mpirun -n 39 ... ccl_acceptance quick --backend gloo");
}

TEST(AcceptanceNext, OfNoiseSaysWhichSlowdownWouldShow) {
  Record record = test::relative();
  record.checks[0] = {.id = "pairs/hosts",
                      .subject = "run",
                      .verdict = Verdict::inconclusive,
                      .reason = "HOSTS_NOT_JUDGED",
                      .numbers = {{"detectable", 0.295}}};
  record.verdict = Verdict::inconclusive;
  EXPECT_EQ(
      next_step(record).what,
      "no verdict; run again when nothing else uses the hosts, or with slowdown = \"30 %\" in "
      "[pairs] of the plan");
  record.checks[0].numbers.clear();
  EXPECT_EQ(next_step(record).what, "no verdict; run again when nothing else uses the hosts");
}

TEST(AcceptanceFindings, AStageThatContainsOthersIsSaid) {
  Record record = test::sample();
  EXPECT_EQ(containment_text(record), "");
  record.stages[3].begin_s = record.stages[2].begin_s + 10;
  record.stages[3].end_s = record.stages[2].begin_s + 20;
  EXPECT_EQ(containment_text(record), "The time of pairs contains that of full.");
  record.stages[4].begin_s = record.stages[2].begin_s + 20;
  record.stages[4].end_s = record.stages[2].begin_s + 30;
  EXPECT_EQ(containment_text(record), "The time of pairs contains that of full and again.");
}

TEST(AcceptanceFindings, TheWorstFirst) {
  const Record record = test::sample();
  std::vector<std::string> subjects;
  for (const Check* const check : wrong_checks(record)) subjects.push_back(bare_subject(*check));
  EXPECT_THAT(subjects, ElementsAre("node5", "link node1-node6", "run"));
}

TEST(AcceptanceHosts, AsSchedulersTakeThem) {
  EXPECT_EQ(hosts_text({"node3", "node17"}, HostsFormat::lines), "node3\nnode17\n");
  EXPECT_EQ(hosts_text({"node3", "node17"}, HostsFormat::slurm), "--exclude=node3,node17\n");
  EXPECT_EQ(hosts_text({}, HostsFormat::slurm), "");
  for (const char* const name : {"", "-x", "a,b", "a b", "node[1-9]", "a\nb", "$(x)"})
    EXPECT_THROW(hosts_text({name}, HostsFormat::lines), Error) << name;
}

}  // namespace
}  // namespace ccl_tests::acceptance
