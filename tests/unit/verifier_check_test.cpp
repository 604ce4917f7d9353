// device_check finds what is wrong with a device's loops, and nothing in right ones.
#include "tools/verifier_check.hpp"

#include <gtest/gtest.h>

#include "src/devices/devices.hpp"
#include "tests/unit/file_flags.hpp"
#include "tools/check_arguments.hpp"
#include "verify/loops.hpp"

namespace ccl_tests::tools {
namespace {

using verify::Difference;

// Those of the host; a test makes one of them wrong.
class Loops : public verify::Loops {
 public:
  std::unique_ptr<verify::PlacedTable> place(const verify::Table& table) override {
    return right_->place(table);
  }
  void fill(std::byte* out, std::size_t count, const verify::PlacedTable& table,
            std::size_t first) override {
    right_->fill(out, count, table, first);
  }
  std::vector<Difference> compare(std::span<const verify::StridedRange> runs,
                                  std::uint64_t tolerance) override {
    return right_->compare(runs, tolerance);
  }
  void set(std::byte* out, std::byte value, std::size_t bytes) override {
    right_->set(out, value, bytes);
  }
  void fill_constant(std::byte* out, std::byte value, std::size_t bytes) override {
    right_->fill_constant(out, value, bytes);
  }
  void fetch(std::byte* host, const std::byte* data, std::size_t bytes) override {
    right_->fetch(host, data, bytes);
  }
  void store(std::byte* out, const std::byte* host, std::size_t bytes) override {
    right_->store(out, host, bytes);
  }

 private:
  std::unique_ptr<verify::Loops> right_ = verify::make_host_loops();
};

CheckReport check(verify::Loops& loops, DataType type = DataType::half) {
  const auto device = host_devices().open(0);
  return check_type(type, *device, loops, {.max_bytes = 1 << 16, .seed = 1, .quick = true});
}

TEST(VerifierCheck, RightLoopsPass) {
  Loops loops;
  const CheckReport report = check(loops);
  EXPECT_TRUE(report.passed());
  EXPECT_TRUE(report.details.empty());
  EXPECT_GT(report.fills, 50U);
  EXPECT_GT(report.right, 50U);
  EXPECT_GT(report.faults, 300U);
}

TEST(VerifierCheck, FindsALastElementThatIsNeverCompared) {
  struct Short : Loops {
    std::vector<Difference> compare(std::span<const verify::StridedRange> runs,
                                    std::uint64_t tolerance) override {
      std::vector<verify::StridedRange> shorter(runs.begin(), runs.end());
      for (verify::StridedRange& run : shorter)
        if (run.count > 0) --run.count;
      return Loops::compare(shorter, tolerance);
    }
  } loops;
  const CheckReport report = check(loops);
  EXPECT_GT(report.missed, 0U);
  EXPECT_EQ(report.false_alarms, 0U);
  EXPECT_FALSE(report.details.empty());
}

TEST(VerifierCheck, FindsAWrongCount) {
  struct Counting : Loops {
    std::vector<Difference> compare(std::span<const verify::StridedRange> runs,
                                    std::uint64_t tolerance) override {
      auto found = Loops::compare(runs, tolerance);
      for (Difference& d : found)
        if (d.wrong > 1) --d.wrong;
      return found;
    }
  } loops;
  EXPECT_GT(check(loops).missed, 0U);
}

TEST(VerifierCheck, FindsATightTolerance) {
  struct Exact : Loops {
    std::vector<Difference> compare(std::span<const verify::StridedRange> runs,
                                    std::uint64_t /*tolerance*/) override {
      return Loops::compare(runs, 0);
    }
  } loops;
  const CheckReport report = check(loops);
  EXPECT_GT(report.false_alarms + report.missed, 0U);
}

TEST(VerifierCheck, FindsABlockThatIsComparedFromTheWrongPlace) {
  struct Shifted : Loops {
    std::vector<Difference> compare(std::span<const verify::StridedRange> runs,
                                    std::uint64_t tolerance) override {
      std::vector<verify::StridedRange> other(runs.begin(), runs.end());
      for (verify::StridedRange& run : other)
        if (run.blocks > 1) ++run.table_stride;
      return Loops::compare(other, tolerance);
    }
  } loops;
  EXPECT_GT(check(loops).false_alarms, 0U);
}

TEST(VerifierCheck, FindsAFillThatWritesBehindTheEnd) {
  struct Long : Loops {
    void fill(std::byte* out, std::size_t count, const verify::PlacedTable& table,
              std::size_t first) override {
      Loops::fill(out, count + 1, table, first);
    }
  } loops;
  EXPECT_GT(check(loops).other_fills, 0U);
}

TEST(CheckArguments, SayWhatBecomesOfFiles) { test::expect_uses_of_files<CheckArguments>(); }

}  // namespace
}  // namespace ccl_tests::tools
