#include "src/options/flag.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/options/values.hpp"

namespace ccl_tests {

std::string text_of(const SettingValue& value) {
  if (const auto* const yes = std::get_if<bool>(&value)) return *yes ? "1" : "0";
  if (const auto* const number = std::get_if<std::int64_t>(&value))
    return fmt::format("{}", *number);
  if (const auto* const number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  const auto* const text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

SettingValue setting_of(const SizeLimit& limit) {
  const std::string text = fmt::format("{}:{}", limit.bytes, limit.value);
  if (limit.times == Placements::both) return text;
  return fmt::format("{}:{}", text, name(limit.times));
}

std::string Flag::default_text() const {
  if (!by_default.empty()) return by_default;
  if (!has_value() || is_variable()) return {};
  const SettingValue now = show();
  const auto* const bytes = std::get_if<std::int64_t>(&now);
  return bytes != nullptr && value == "SIZE" ? size_text(static_cast<std::size_t>(*bytes))
                                             : text_of(now);
}

void FlagSet::begin(Group group, const std::string& why_not) {
  group_ = group;
  missing_ = why_not;
}

Flag& FlagSet::add(bool& target, std::string_view names, std::string_view value,
                   std::string_view help, const FlagProperties& properties) {
  return add(target, names, value, help, zero_or_one(), properties);
}

Flag& FlagSet::add_custom(std::string_view names, std::string_view value, std::string_view help,
                          std::function<void(const std::string&)> read,
                          std::function<SettingValue()> show, FlagProperties properties) {
  Flag& flag = flags_.emplace_back();
  static_cast<FlagProperties&>(flag) = std::move(properties);
  flag.names = split_list(std::string(names));
  flag.value = value;
  flag.help = help;
  flag.group = group_;
  if (!missing_.empty()) flag.missing = missing_;
  flag.read = std::move(read);
  flag.show = std::move(show);
  return flag;
}

const Flag* FlagSet::find(std::string_view name) const {
  const auto found = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& flag) {
    return std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end();
  });
  return found == flags_.end() ? nullptr : &*found;
}

}  // namespace ccl_tests
