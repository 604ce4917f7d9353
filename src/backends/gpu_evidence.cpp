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

}  // namespace

std::optional<std::string> gpu_evidence(const std::string& sysfs) {
  for (const char* const variable : {"CUDA_VISIBLE_DEVICES", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS"}) {
    const char* const value = std::getenv(variable);
    // An empty list and -1 hide all devices: that points to no GPU, on purpose.
    if (value != nullptr && *value != '\0' && std::string_view(value) != "-1") {
      return std::string(variable) + " is set to '" + value + "'";
    }
    if (value != nullptr && std::string_view(variable) == "CUDA_VISIBLE_DEVICES")
      return std::nullopt;
  }
  std::error_code none;
  for (const auto& device : std::filesystem::directory_iterator(sysfs + "/bus/pci/devices", none)) {
    const bool nvidia = first_word(device.path() / "vendor") == nvidia_vendor;
    if (nvidia && first_word(device.path() / "class").starts_with(display_class)) {
      return "PCI device " + device.path().filename().string() + " is an NVIDIA GPU";
    }
  }
  return std::nullopt;
}

}  // namespace ccl_tests
