#include "src/backends/gpu_evidence.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace ccl_tests {
namespace {

std::string first_word(const std::filesystem::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

constexpr std::string_view nvidia_vendor = "0x10de";
constexpr std::string_view display_class = "0x03";  // 0x0300 VGA, 0x0302 3D controller

std::optional<std::string> value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::string set_to(const char* variable, const std::string& value) {
  return std::string(variable) + " is set to '" + value + "'";
}

// Launchers' ways to say that a job has no GPU. A list that begins with -1 is empty, too.
bool hides_all(const std::string& devices) {
  return devices.empty() || devices.starts_with("-1") || devices == "NoDevFiles" ||
         devices == "none" || devices == "void";
}

// Device files of NVIDIA's driver, and of its Windows driver below WSL: virtual machines without PCI in
// sysfs have these alone.
std::optional<std::string> driver_file(const std::string& root) {
  for (const char* const file : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"}) {
    std::error_code none;
    if (std::filesystem::exists(root + file, none)) return std::string(file) + " is there";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> gpu_evidence(const std::string& root) {
  if (const auto devices = value_of("CUDA_VISIBLE_DEVICES"))
    return hides_all(*devices) ? std::nullopt
                               : std::optional(set_to("CUDA_VISIBLE_DEVICES", *devices));
  // Images set this to "all", whether there is a GPU or not.
  if (const auto devices = value_of("NVIDIA_VISIBLE_DEVICES"); devices && hides_all(*devices))
    return std::nullopt;
  for (const char* const variable : {"SLURM_JOB_GPUS", "SLURM_STEP_GPUS"})
    if (const auto devices = value_of(variable); devices && !hides_all(*devices))
      return set_to(variable, *devices);
  std::error_code none;
  for (const auto& device :
       std::filesystem::directory_iterator(root + "/sys/bus/pci/devices", none)) {
    const bool nvidia = first_word(device.path() / "vendor") == nvidia_vendor;
    if (nvidia && first_word(device.path() / "class").starts_with(display_class)) {
      return "PCI device " + device.path().filename().string() + " is an NVIDIA GPU";
    }
  }
  return driver_file(root);
}

}  // namespace ccl_tests
