#include "tools/acceptance/host/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace ccl_tests::acceptance {

namespace fs = std::filesystem;

std::string line_in(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::string value_in(const fs::path& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    std::size_t at = line.find_first_of(":=", name.size());
    if (at == std::string::npos) continue;
    at = line.find_first_not_of(" \t:=\"", at);
    if (at == std::string::npos) return {};
    return line.substr(at, line.find_last_not_of(" \t\"") - at + 1);
  }
  return {};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::uint64_t> count_in(const fs::path& file) {
  const std::string line = line_in(file);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

double leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : 0;
}

namespace {

namespace fs = std::filesystem;

// "16.0 GT/s PCIe", "8", "Unknown".
PciSpeed speed_in(const fs::path& device, const std::string& which) {
  constexpr int most_lanes = 32;  // 255 and 63 mean: not known
  const double lanes = leading_number(line_in(device / (which + "_link_width")));
  if (lanes < 1 || lanes > most_lanes) return {};
  return {leading_number(line_in(device / (which + "_link_speed"))), static_cast<int>(lanes)};
}

std::string text(const PciSpeed& speed) {
  return fmt::format("{:g} GT/s x{}", speed.transfers, speed.lanes);
}

}  // namespace

std::optional<PciLink> pci_link(const fs::path& device) {
  const PciLink link{speed_in(device, "current"), speed_in(device, "max")};
  if (bytes_per_second(link.now) <= 0) return std::nullopt;
  return link;
}

double bytes_per_second(const PciSpeed& speed) {
  constexpr double bits = 8, giga = 1e9;
  const double coding = speed.transfers <= 5    ? 8.0 / 10
                        : speed.transfers <= 32 ? 128.0 / 130
                                                : 242.0 / 256;
  return speed.transfers * giga * speed.lanes * coding / bits;
}

std::string text(const PciLink& link) {
  if (bytes_per_second(link.most) <= bytes_per_second(link.now)) return text(link.now);
  return fmt::format("{} of {}", text(link.now), text(link.most));
}

std::map<std::string, std::uint64_t> pci_errors(const fs::path& device) {
  static constexpr std::pair<const char*, const char*> severities[] = {
      {"aer_dev_correctable", "PCIe corrected errors"},
      {"aer_dev_nonfatal", "PCIe nonfatal errors"},
      {"aer_dev_fatal", "PCIe fatal errors"}};
  std::map<std::string, std::uint64_t> errors;
  for (const auto& [file, name] : severities) {
    std::ifstream in(device / file);  // "RxErr 0", ..., "TOTAL_ERR_COR 0"
    std::string kind;
    for (std::uint64_t count = 0; in >> kind >> count;)
      if (kind.starts_with("TOTAL_")) errors[name] = count;
  }
  return errors;
}

}  // namespace ccl_tests::acceptance
