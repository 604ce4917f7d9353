// The verdict file, written, read back, and broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "src/core/error.hpp"
#include "tests/unit/acceptance_sample.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {
namespace {

using ::testing::HasSubstr;

// Returns the message of the Error; "" if there was none.
std::string refusal(const std::string& text) {
  try {
    read_verdict(text);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

std::string with(const std::string& pointer, const nlohmann::ordered_json& value) {
  auto json = nlohmann::ordered_json::parse(verdict_json(test::sample()));
  json[nlohmann::ordered_json::json_pointer(pointer)] = value;
  return json.dump();
}

TEST(AcceptanceVerdict, IsReadBackAsWritten) {
  for (const Record& record :
       {test::sample(), test::many_hosts(), test::relative(), test::unmeasured(), test::one_host(),
        test::incomplete(), Record{}}) {
    const std::string text = verdict_json(record);
    EXPECT_EQ(verdict_json(read_verdict(text)), text);
  }
}

TEST(AcceptanceVerdict, KeepsEveryMember) {
  const Record before = test::sample(), after = read_verdict(verdict_json(before));
  EXPECT_EQ(after.verdict, Verdict::fail);
  EXPECT_EQ(after.seed, 17U);
  EXPECT_TRUE(after.complete);
  EXPECT_EQ(after.begin_s, before.begin_s);
  EXPECT_EQ(after.hosts[2].facts, before.hosts[2].facts);
  EXPECT_EQ(after.hosts[2].ranks, before.hosts[2].ranks);
  EXPECT_EQ(after.checks[1].numbers[3].value, 28.8e9);
  EXPECT_EQ(after.checks[1].numbers[3].unit, "B/s");
  EXPECT_EQ(after.stages[3].verdict, Verdict::warn);
  EXPECT_EQ(after.pairs[1].seconds[5][1], before.pairs[1].seconds[5][1]);
  EXPECT_TRUE(std::isnan(after.pairs[0].seconds[3][4]));
  EXPECT_EQ(after.pairs[1].rail, 0U);
  EXPECT_EQ(after.pairs[2].rail, 1U);
  EXPECT_EQ(after.curves[0].points[3].limit, before.curves[0].points[3].limit);
  EXPECT_EQ(after.excluded, before.excluded);
}

TEST(AcceptanceVerdict, KeysAreAsDocumented) {
  const auto json = nlohmann::json::parse(verdict_json(test::sample()));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["verdict"], "FAIL");
  EXPECT_EQ(json["relative"], false);
  EXPECT_EQ(nlohmann::json::parse(verdict_json(test::relative()))["relative"], true);
  EXPECT_EQ(json["pairs"][0]["time_s"].size(), 8U);
  EXPECT_TRUE(json["pairs"][0]["time_s"][0][0].is_null());
  EXPECT_EQ(json["checks"][1]["numbers"][0]["name"], "slowdown");
  EXPECT_EQ(json["curves"][0]["points"][0]["size_bytes"], 1024);
}

TEST(AcceptanceVerdict, AnythingMayStandInATextOrANumber) {
  Record record = test::hostile();
  record.seed = std::numeric_limits<unsigned long long>::max();
  record.checks[0].numbers[0].value = std::numeric_limits<double>::infinity();
  const Record after = read_verdict(verdict_json(record));
  EXPECT_EQ(after.seed, record.seed);
  EXPECT_TRUE(std::isnan(after.checks[0].numbers[0].value));
  EXPECT_THAT(after.plan, HasSubstr("<b a=\"1\" b='2'>&amp;\n\x1b[31m\xef\xbf\xbd</b>"));
}

TEST(AcceptanceVerdict, SaysWhatIsWrong) {
  EXPECT_EQ(refusal(""), "not a verdict of ccl_acceptance: the file is not JSON from byte 1 on");
  EXPECT_EQ(refusal("[]"), "not a verdict of ccl_acceptance: the file is not an object");
  EXPECT_EQ(refusal("{}"), "not a verdict of ccl_acceptance: tool is missing");
  EXPECT_THAT(refusal(with("/tool", "ccl_compare")), HasSubstr("tool is not \"ccl_acceptance\""));
  EXPECT_THAT(refusal(with("/schema_version", 2)),
              HasSubstr("schema_version is 2; this program reads 1"));
  EXPECT_THAT(refusal(with("/checks/1/verdict", "MAYBE")),
              HasSubstr("checks[1].verdict is 'MAYBE'; accepted: PASS"));
  EXPECT_THAT(refusal(with("/hosts/0/ranks/0", -1)), HasSubstr("hosts[0].ranks[0] is not a whole"));
  EXPECT_THAT(refusal(with("/hosts/0/ranks/0", 1e300)), HasSubstr("hosts[0].ranks[0] is not"));
  EXPECT_THAT(refusal(with("/hosts/0/ranks/0", 2147483648U)), HasSubstr("from 0 to 2147483647"));
  EXPECT_THAT(refusal(with("/hosts/0/facts/nic", 1)),
              HasSubstr("hosts[0].facts.'nic' is not a text"));
  EXPECT_THAT(refusal(with("/pairs/0/time_s/2", {1, 2})),
              HasSubstr("pairs[0].time_s[2] has 2 times for 8 hosts"));
  EXPECT_THAT(refusal(with("/pairs/0/time_s", nlohmann::ordered_json::array())),
              HasSubstr("has 0 rows for 8 hosts"));
  EXPECT_THAT(refusal(with("/checks", "none")), HasSubstr("checks is not a list"));
  EXPECT_THAT(refusal("{\"tool\": 1e999}"), HasSubstr("the file has a number that is too large"));
}

// One to three bytes lost, changed or there twice: read or refused in one line, never another end.
TEST(AcceptanceVerdict, NoBytesDoHarm) {
  std::mt19937 random(1);
  const std::string whole = verdict_json(test::sample());
  const std::string small = verdict_json(test::one_host());
  const std::string deep(100000, '[');
  EXPECT_NE(refusal(deep), "");
  for (int i = 0; i < 1000; ++i) {
    std::string text = i % 2 == 0 ? whole : small;
    for (auto changes = random() % 3; changes < 3; ++changes) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text.erase(at, 1 + random() % 8); break;
        case 1: text[at] = static_cast<char>(random()); break;
        case 2: text.insert(at, text.substr(random() % text.size(), random() % 32)); break;
        default: text[at] = "{}[],:\"0-e."[random() % 11];
      }
    }
    const std::string message = refusal(text);
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  for (std::size_t end = 0; end < whole.size() - 2; end += 389)
    EXPECT_NE(refusal(whole.substr(0, end)), "") << end;
}

}  // namespace
}  // namespace ccl_tests::acceptance
