// How options are declared. Included by the .cpp files of the command line only.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

#include "src/core/error.hpp"
#include "src/options/options.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {

inline constexpr int max_int = std::numeric_limits<int>::max();

using Set = std::function<void(const std::string&)>;

// Declares options on CLI11; every error names the flag and is one line.
class Declarations {
 public:
  explicit Declarations(CLI::App& app) : app_(app) {}

  CLI::Option* add(const std::string& names, const std::string& value, const std::string& help,
                   const Set& set) {
    const std::string flag = names.substr(0, names.find(','));
    const auto call = [flag, set](const std::vector<std::string>& texts) {
      for (const std::string& text : texts) {
        try {
          set(text);
        } catch (const UsageError& e) {
          throw UsageError(flag + ": " + e.what());
        }
      }
      return true;
    };
    CLI::Option* const option = app_.add_option(names, call, help);
    option->type_name(value)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return option;
  }

  void integer(const std::string& names, int& target, int lowest, int highest,
               const std::string& help) {
    add(names, "N", fmt::format("{} [{}]", help, target),
        [&target, lowest, highest](const std::string& t) {
          target = parse_int(t, lowest, highest);
        });
  }
  void flag01(const std::string& names, bool& target, const std::string& help) {
    add(names, "0|1", help, [&target](const std::string& t) { target = parse_int(t, 0, 1) == 1; });
  }
  void flag(const std::string& name, const std::string& help, const std::function<void()>& set) {
    app_.add_flag_callback(name, set, help);
  }
  void size(const std::string& names, std::size_t& target, const std::string& help) {
    add(names, "SIZE", help, [&target](const std::string& t) { target = parse_size(t); });
  }
  void seconds(const std::string& names, double& target, const std::string& help) {
    add(names, "SECONDS", fmt::format("{} [{}]", help, target),
        [&target](const std::string& t) { target = parse_number(t, 0); });
  }

 private:
  CLI::App& app_;
};

// Devices, memory, and what only libraries on GPUs know.
void declare_devices(Declarations& d, Options& o);
void declare_gpu_flags(Declarations& d, Options& o);

// Options that only some programs take.
void declare_program(Declarations& d, Options& o, const Collective& collective);

}  // namespace ccl_tests
