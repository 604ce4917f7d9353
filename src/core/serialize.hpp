// Bytes of structs and of plain values, for what ranks send each other over the control channel.
// Only for .cpp files: includes nlohmann-json.
#pragma once

#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "src/core/error.hpp"

namespace nlohmann {

// The value, or null.
template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& j, const std::optional<T>& value) { j = value ? json(*value) : json(); }
  static void from_json(const json& j, std::optional<T>& value) {
    value = j.is_null() ? std::nullopt : std::optional<T>(j.get<T>());
  }
};

// The number of the alternative, and its value, which is null for a struct without members.
template <class... T>
struct adl_serializer<std::variant<T...>> {
  static void to_json(json& j, const std::variant<T...>& value) {
    j = json::array(
        {value.index(), std::visit([](const auto& one) { return json_of(one); }, value)});
  }
  static void from_json(const json& j, std::variant<T...>& value) {
    const auto number = j.at(0).get<std::size_t>();
    std::size_t next = 0;
    const bool known = ((next++ == number && set<T>(j.at(1), value)) || ...);
    if (!known) throw ccl_tests::Error("bytes of another rank cannot be read: unknown alternative");
  }

 private:
  template <class One>
  static json json_of(const One& one) {
    if constexpr (std::is_empty_v<One>)
      return {};
    else
      return json(one);
  }
  template <class One>
  static bool set(const json& j, std::variant<T...>& value) {
    if constexpr (std::is_empty_v<One>)
      value = One();
    else
      value = j.get<One>();
    return true;
  }
};

}  // namespace nlohmann

namespace ccl_tests {

// Returns the number that `text` begins with, as {fmt} writes it in any locale; 0 if none.
inline double parse_number(std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Return `value` as MessagePack, and what such bytes were made of. Both throw nlohmann's exceptions.
// Functions, because a file that has nlohmann's readers and writers takes a second to compile.
std::string packed(const nlohmann::json& value);
nlohmann::json unpacked(std::string_view bytes);

// Returns `value` as MessagePack. T has to_json and from_json, for example by
// NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE.
template <class T>
std::string to_bytes(const T& value) {
  return packed(nlohmann::json(value));
}

// Returns what to_bytes was given. Throws Error if `bytes` are not those of a T.
template <class T>
T from_bytes(std::string_view bytes) {
  try {
    return unpacked(bytes).template get<T>();
  } catch (const nlohmann::json::exception& error) {
    throw Error(std::string("bytes of another rank cannot be read: ") + error.what());
  }
}

// Returns the memory of `values`. All ranks of a job have one byte order.
template <class T>
std::string span_to_bytes(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// Returns what span_to_bytes was given. Throws Error if `bytes` are not a whole number of T.
template <class T>
std::vector<T> span_from_bytes(std::string_view bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (bytes.size() % sizeof(T) != 0)
    throw Error("bytes of another rank cannot be read: " + std::to_string(bytes.size()) +
                " bytes are not a multiple of " + std::to_string(sizeof(T)));
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace ccl_tests
