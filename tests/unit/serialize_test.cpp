#include "src/core/serialize.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>

namespace ccl_tests {
namespace {

struct Inner {
  std::string name;
  double value = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Inner, name, value)

struct Outer {
  std::int64_t number = 0;
  std::vector<Inner> parts;
  std::map<std::string, int> table;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Outer, number, parts, table)

Outer example() {
  return {std::numeric_limits<std::int64_t>::min(), {{"a\n\xc3\xa9", 0.1}, {"", -3}}, {{"x", 7}}};
}

struct Nothing {};
using OneOf = std::variant<Inner, Nothing, int>;

TEST(Serialize, AVariantComesBackAsTheAlternativeThatItWas) {
  const auto sent = [](const OneOf& value) { return from_bytes<OneOf>(to_bytes(value)); };
  EXPECT_EQ(std::get<Inner>(sent(Inner{"a", 0.1})).name, "a");
  EXPECT_TRUE(std::holds_alternative<Nothing>(sent(Nothing())));
  EXPECT_EQ(std::get<int>(sent(7)), 7);
  EXPECT_THROW(from_bytes<OneOf>(to_bytes(std::vector<int>{3, 0})), Error);
  EXPECT_THROW(from_bytes<OneOf>(to_bytes(std::vector<int>{0, 0})), Error);
}

TEST(Serialize, AnOptionalComesBackAsItWas) {
  using Maybe = std::optional<std::string>;
  EXPECT_EQ(from_bytes<Maybe>(to_bytes(Maybe("x"))), "x");
  EXPECT_EQ(from_bytes<Maybe>(to_bytes(Maybe())), std::nullopt);
}

TEST(Serialize, StructsComeBackAsTheyWere) {
  const Outer expected = example();
  const auto found = from_bytes<Outer>(to_bytes(expected));
  EXPECT_EQ(found.number, expected.number);
  ASSERT_EQ(found.parts.size(), 2U);
  EXPECT_EQ(found.parts[0].name, expected.parts[0].name);
  EXPECT_EQ(found.parts[0].value, 0.1);
  EXPECT_EQ(found.parts[1].value, -3);
  EXPECT_EQ(found.table, expected.table);
}

TEST(Serialize, EveryShorterTextIsRefused) {
  const std::string bytes = to_bytes(example());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(from_bytes<Outer>(bytes.substr(0, size)), Error) << size;
  EXPECT_THROW(from_bytes<Outer>(bytes + "x"), Error);
}

TEST(Serialize, AnotherStructIsRefused) {
  EXPECT_THROW(from_bytes<Outer>(to_bytes(Inner{"a", 1})), Error);
  EXPECT_THROW(from_bytes<Inner>(to_bytes(std::string("text"))), Error);
}

TEST(Serialize, ValuesComeBackAsTheyWere) {
  const std::array<float, 3> values = {1.5F, -0.0F, std::numeric_limits<float>::infinity()};
  const std::string bytes = span_to_bytes<float>(values);
  EXPECT_EQ(bytes.size(), 12U);
  EXPECT_THAT(span_from_bytes<float>(bytes), testing::ElementsAreArray(values));
  EXPECT_THAT(span_from_bytes<float>(""), testing::IsEmpty());
}

TEST(Serialize, PartOfAValueIsRefused) {
  EXPECT_THROW(span_from_bytes<std::uint64_t>("1234567"), Error);
}

}  // namespace
}  // namespace ccl_tests
