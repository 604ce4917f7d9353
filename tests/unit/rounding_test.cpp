// Exact numbers (bytes, counts, places) and conversions are the same in every rounding mode of the
// processor: a library in the process may set one.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "collectives/collectives.hpp"
#include "src/core/types.hpp"
#include "src/measure/statistics.hpp"
#include "src/options/options.hpp"
#include "src/options/values.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

class Rounding : public testing::TestWithParam<int> {
 protected:
  // Returns what `make` returns in the test's mode.
  template <class Make>
  static auto rounded(Make make) {
    std::fesetround(GetParam());
    auto made = make();
    std::fesetround(FE_TONEAREST);
    return made;
  }
  void TearDown() override { std::fesetround(FE_TONEAREST); }
};

INSTANTIATE_TEST_SUITE_P(Modes, Rounding,
                         testing::Values(FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD));

TEST_P(Rounding, LeavesSizesAsTheyAreWritten) {
  const std::map<std::string, std::size_t> sizes = {
      {"8", 8},
      {"1K", 1024},
      {"64K", 65536},
      {"64M", std::size_t{64} << 20},
      {"3G", std::size_t{3} << 30},
      {"7T", std::size_t{7} << 40},
      {"1.5G", std::size_t{3} << 29},
      {"0.0625G", std::size_t{64} << 20},
      {"0.1G", 107374182},
      {"1.1K", 1126},
      {"1e6", 1000000},
      {"80e-1", 8},
      {"9007199254740993", (std::size_t{1} << 53) + 1},  // no double
      {"8796093022207K", 8796093022207U << 10},
      {"9000000000000000000", 9000000000000000000U}};
  for (const auto& [text, bytes] : sizes)
    EXPECT_EQ(rounded([&, text = text] { return parse_size(text); }), bytes) << text;
  EXPECT_EQ(rounded([] { return parse_limit("64M:1.5", "GB/s").bytes; }), std::size_t{64} << 20);
  EXPECT_EQ(rounded([] { return duration()("90m"); }), 5400);
}

TEST_P(Rounding, LeavesTheBlocksOfAlltoallv) {
  const auto blocks = [](double spread, int ranks, std::size_t bytes) {
    CollectiveOptions options;
    options.alltoallv_spread = spread;
    return collectives::alltoallv.layout({bytes, 1, {0, ranks}, options}).counts->send_counts;
  };
  for (const int ranks : {3, 4, 7})
    for (const double spread : {0.1, 0.3, 0.7, 1.0}) {
      const std::size_t bytes = std::size_t{16} * 10 * 42 * 42;  // blocks of whole 16 bytes
      const auto here = rounded([&] { return blocks(spread, ranks, bytes); });
      EXPECT_EQ(here, blocks(spread, ranks, bytes)) << ranks << " ranks, " << spread;
      EXPECT_EQ(std::accumulate(here.begin(), here.end(), std::size_t{0}), bytes);
    }
  const TemporaryFolder folder;
  const std::map<std::string, std::string> variables = {
      {"NCCL_TESTS_ALLTOALLV_MATRIX_FILE", folder.write("matrix", "160 480\n16e2 0\n")},
      {"NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "0.1"}};
  const auto find = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  EXPECT_EQ(rounded([&] {
              return parse_options(collectives::alltoallv, {}, find).options.spec.alltoallv_bytes;
            }),
            (std::vector<std::vector<std::size_t>>{{16, 48}, {160, 0}}));
}

TEST_P(Rounding, LeavesPercentiles) {
  std::vector<double> values(20);
  std::iota(values.begin(), values.end(), 1);
  const std::map<double, double> places = {{5, 1}, {10, 2}, {35, 7}, {90, 18}, {95, 19}};
  for (const auto& [percent, place] : places)
    EXPECT_EQ(rounded([&, percent = percent] { return percentile(values, percent); }), place);
}

// Ties go to the even neighbour, anything else to the nearer one.
TEST_P(Rounding, LeavesConversionsToSmallFloats) {
  for (const DataType type :
       {DataType::half, DataType::bfloat16, DataType::f8e4m3, DataType::f8e5m2})
    with_type(type, [&]<class T>() {
      if constexpr (std::is_class_v<T>) {
        for (unsigned bits = 0;; ++bits) {
          const double low = decode(float_format<T>(), bits);
          const double high = decode(float_format<T>(), bits + 1);
          if (!std::isfinite(high)) break;
          const double middle = low + (high - low) / 2;
          const auto nearest = [&](double value) {
            return rounded([&] { return encode(float_format<T>(), value); });
          };
          ASSERT_EQ(nearest(low), bits) << name(type);
          ASSERT_EQ(nearest(middle), bits + bits % 2) << name(type);
          ASSERT_EQ(nearest(std::nextafter(middle, low)), bits) << name(type);
          ASSERT_EQ(nearest(std::nextafter(middle, high)), bits + 1) << name(type);
        }
      }
    });
}

}  // namespace
}  // namespace ccl_tests
