// A flag: its one declaration gives parsing, checks, help, agreement over ranks and the name in
// files.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/core/call.hpp"
#include "src/core/setting.hpp"
#include "src/options/row_options.hpp"

namespace ccl_tests {

std::string text_of(const SettingValue& value);  // a bool is 0 or 1, monostate is empty

inline SettingValue setting_of(bool value) { return value; }
SettingValue setting_of(std::integral auto value) { return static_cast<std::int64_t>(value); }
inline SettingValue setting_of(double value) { return value; }
inline SettingValue setting_of(const std::string& value) { return value; }
SettingValue setting_of(const SizeLimit& limit);
template <class T>
requires requires(const T& value) { name(value); }
SettingValue setting_of(const T& value) { return std::string(name(value)); }
template <class T>
SettingValue setting_of(const std::optional<T>& value) {
  return value ? setting_of(*value) : SettingValue();
}
template <class T>
SettingValue setting_of(const std::vector<T>& values) {
  std::string list;
  for (const T& value : values) {
    if (!list.empty()) list += ',';
    list += text_of(setting_of(value));
  }
  return list;
}

// The groups of --help-all, and the sections of the page that --help prints.
enum class Group { sizes, what, measuring, checking, ranks, library, output, gpus, variables };
// none: named after them. unlisted: --help-all alone has it, since it asks for nothing.
enum class Page { none, what, where, measured, output, unlisted };

// The use of a file or folder that a flag names. Every flag whose value is one says so.
// written: by rank 0, or by a program of one process. written_by_all: ranks write into it together.
enum class FileUse { none, read, written, written_by_all };

// The properties that a declaration may give a flag beside its names, value and help.
struct FlagProperties {
  Page page = Page::none;
  std::string brief = {};       // --help's shorter text; empty: `help`
  std::string by_default = {};  // the default in words; empty: the value's
  std::string missing = {};     // why the program does not take the flag; empty: it does
  std::string recorded = {};    // its name in headers of files; empty: not recorded
  bool shared = true;           // all ranks must be told the same
  bool gpu = false;             // a value other than the default needs a library that works on GPUs
  bool repeatable = false;
  bool rccl_tests = false;  // its letter is rccl-tests', not nccl-tests'
  // A rank that is given another file to write than rank 0 is refused: lost_files().
  FileUse file_use = FileUse::none;
};

struct Flag : FlagProperties {
  std::vector<std::string> names = {};  // "-n", "--iters"; messages use the first
  std::string value = {};               // what follows the flag, "N"; empty: nothing
  std::string help = {};
  Group group = Group::what;
  std::function<void(const std::string&)> read = {};  // empty: the value comes with another flag's
  std::function<SettingValue()> show = {};
  std::function<std::vector<std::string>()> written = {};  // names of files; empty: see file_use

  bool is_variable() const { return !names.front().starts_with('-'); }
  bool has_value() const { return !value.empty(); }
  // The program takes it, and help describes it.
  bool is_offered() const { return missing.empty() && !help.empty(); }
  std::string default_text() const;  // as help shows it; empty: none
};

// The flags of a program, in the order of the help.
class FlagSet {
 public:
  // Flags that follow belong to `group` and need what `why_not` names as missing.
  void begin(Group group, const std::string& why_not = {});

  // `parse` takes the text after the flag, or "1" if nothing can stand there.
  template <class T, class Parse>
  Flag& add(T& target, std::string_view names, std::string_view value, std::string_view help,
            Parse parse, const FlagProperties& properties = {}) {
    Flag& flag = add_custom(
        names, value, help,
        [&target, parse](const std::string& text) { target = static_cast<T>(parse(text)); },
        [&target] { return setting_of(target); }, properties);
    if constexpr (std::is_same_v<T, std::string>)
      if (flag.file_use == FileUse::written)
        flag.written = [&target] {
          return target.empty() ? std::vector<std::string>() : std::vector{target};
        };
    return flag;
  }
  // A flag that is 0 or 1, or on if no value can follow it.
  Flag& add(bool& target, std::string_view names, std::string_view value, std::string_view help,
            const FlagProperties& properties = {});
  Flag& add_custom(std::string_view names, std::string_view value, std::string_view help,
                   std::function<void(const std::string&)> read, std::function<SettingValue()> show,
                   FlagProperties properties = {});

  const std::deque<Flag>& all() const { return flags_; }
  // The flag that has this name and reads a value; null: none.
  const Flag* find(std::string_view name) const;

 private:
  std::deque<Flag> flags_;
  Group group_ = Group::what;
  std::string missing_;
};

}  // namespace ccl_tests
