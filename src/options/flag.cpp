#include "src/options/flag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

Flag& Flag::on(Page section, std::string text) {
  page = section;
  brief = std::move(text);
  return *this;
}
Flag& Flag::in(Group other) {
  group = other;
  return *this;
}
Flag& Flag::recorded(std::string name) {
  file_name = std::move(name);
  return *this;
}
Flag& Flag::by_default(std::string words) {
  otherwise = std::move(words);
  return *this;
}
Flag& Flag::needs(const std::string& why_not) {
  if (missing.empty()) missing = why_not;
  return *this;
}
Flag& Flag::per_process() {
  shared = false;
  return *this;
}
Flag& Flag::needs_gpu() {
  gpu = true;
  return *this;
}
Flag& Flag::reads_file() {
  file_use = FileUse::read;
  return *this;
}
Flag& Flag::written_by_all() {
  file_use = FileUse::written_by_all;
  return *this;
}
Flag& Flag::writes(const std::string& target) {
  file_use = FileUse::written;
  written = [&target] { return target.empty() ? std::vector<std::string>() : std::vector{target}; };
  return *this;
}
Flag& Flag::writes(const std::vector<std::string>& target) {
  file_use = FileUse::written;
  written = [&target] { return target; };
  return *this;
}

Flag& Flag::offers(std::vector<std::string> some) {
  values = std::move(some);
  return *this;
}
Flag& Flag::offers_list(std::vector<std::string> some) {
  comma_list = true;
  return offers(std::move(some));
}

Paths Flag::paths() const {
  if (value == "FOLDER") return Paths::folders;
  return file_use != FileUse::none ? Paths::files : Paths::none;
}

std::string Flag::default_text() const {
  if (!otherwise.empty()) return otherwise;
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

Flag& FlagSet::add_custom(std::string_view names, std::string_view value, std::string_view help,
                          std::function<void(const std::string&)> read,
                          std::function<SettingValue()> show) {
  Flag& flag = flags_.emplace_back();
  flag.names = split_list(std::string(names));
  flag.value = value;
  flag.help = help;
  flag.group = group_;
  flag.missing = missing_;
  flag.read = std::move(read);
  flag.show = std::move(show);
  return flag;
}

const Flag* FlagSet::find(std::string_view name) const {
  const auto found = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& flag) {
    return flag.read && std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end();
  });
  return found == flags_.end() ? nullptr : &*found;
}

}  // namespace ccl_tests
