#include "tools/acceptance/report/hosts_out.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests::acceptance {
namespace {

bool of_host_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// A name with a comma, a blank or a bracket would exclude other hosts than meant.
void check_name(const std::string& name) {
  if (!name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), of_host_name))
    return;
  throw Error(fmt::format(
      "cannot write {} to a list of hosts: a host's name has letters, digits, '.', '_' and '-'; "
      "exclude the host by hand",
      quote(name)));
}

}  // namespace

HostsFormat hosts_format(std::string_view name) {
  if (name == "lines") return HostsFormat::lines;
  if (name == "slurm") return HostsFormat::slurm;
  throw UsageError(
      fmt::format("{} is not a format of a list of hosts; accepted: lines, slurm", quote(name)));
}

std::string hosts_text(const std::vector<std::string>& names, HostsFormat format) {
  for (const std::string& name : names) check_name(name);
  if (names.empty()) return {};
  switch (format) {
    case HostsFormat::lines: return fmt::format("{}\n", fmt::join(names, "\n"));
    case HostsFormat::slurm: return fmt::format("--exclude={}\n", fmt::join(names, ","));
  }
  throw Error("a format of a list of hosts that is not known");
}

}  // namespace ccl_tests::acceptance
