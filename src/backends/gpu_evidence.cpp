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

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
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
  for (const char* const variable : {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"}) {
    if (std::getenv(variable) == nullptr) continue;
    if (hides_all(value_of(variable))) return std::nullopt;
    if (std::string_view(variable) == "CUDA_VISIBLE_DEVICES")
      return std::string(variable) + " is set to '" + value_of(variable) + "'";
  }
  for (const char* const variable : {"SLURM_JOB_GPUS", "SLURM_STEP_GPUS"}) {
    if (const std::string value = value_of(variable); !hides_all(value))
      return std::string(variable) + " is set to '" + value + "'";
  }
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
