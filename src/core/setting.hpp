// A setting of a run as results files hold it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace ccl_tests {

// monostate: not given and without a default.
using SettingValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct Setting {
  std::string name;
  SettingValue value;
  bool operator==(const Setting&) const = default;
};

}  // namespace ccl_tests
