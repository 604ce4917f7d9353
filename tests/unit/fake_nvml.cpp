// A stand-in for NVIDIA's management library: three GPUs of an H100 host. GPU 0 is well; GPU 1 has lost two links, and has
// memory errors, replays and heat; GPU 2 has fallen off the bus.
#include <cstdint>

namespace {

constexpr int success = 0, not_supported = 3, gpu_is_lost = 15;
constexpr unsigned gpus = 3;

// Handles are numbers from 1 on.
void* handle_of(unsigned index) { return reinterpret_cast<void*>(std::uintptr_t{index} + 1); }
unsigned index_of(void* gpu) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(gpu) - 1);
}
bool is_bad(void* gpu) { return index_of(gpu) == 1; }

struct Violation {
  unsigned long long reference_us, violation_ns;
};
struct Field {
  unsigned field, scope;
  long long timestamp_us, latency_us;
  unsigned type;
  int status;
  unsigned long long value;
};

}  // namespace

extern "C" {

int nvmlInit_v2() { return success; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpus;
  return success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
  *gpu = handle_of(index);
  return index == gpus - 1 ? gpu_is_lost : success;
}
int nvmlDeviceGetMaxClockInfo(void*, int clock, unsigned* mhz) {
  *mhz = clock == 1 ? 1980 : 2619;
  return clock == 1 || clock == 2 ? success : not_supported;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return success;
}
int nvmlDeviceGetEccMode(void*, int* now, int* pending) {
  *now = *pending = 1;
  return success;
}
int nvmlDeviceGetTotalEccErrors(void* gpu, int kind, int, unsigned long long* count) {
  *count = !is_bad(gpu) ? 0 : kind == 0 ? 7 : 1;
  return success;
}
int nvmlDeviceGetRemappedRows(void* gpu, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failed) {
  *corrected = *uncorrected = *failed = 0;
  *pending = is_bad(gpu) ? 1 : 0;
  return success;
}
int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* lanes) {
  *lanes = 16;
  return success;
}
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* lanes) {
  *lanes = 16;
  return success;
}
int nvmlDeviceGetPcieReplayCounter(void* gpu, unsigned* count) {
  *count = is_bad(gpu) ? 23 : 0;
  return success;
}
int nvmlDeviceGetNvLinkState(void* gpu, unsigned link, int* active) {
  *active = is_bad(gpu) && link >= 16 ? 0 : 1;
  return success;
}
int nvmlDeviceGetNvLinkErrorCounter(void* gpu, unsigned, int, unsigned long long* count) {
  *count = is_bad(gpu) ? 1 : 0;
  return success;
}
int nvmlDeviceGetViolationStatus(void* gpu, int policy, void* time) {
  *static_cast<Violation*>(time) = {1'000'000, policy == 1 && is_bad(gpu) ? 250'000'000ULL : 0};
  return success;
}
int nvmlDeviceGetFieldValues(void*, int count, void* values) {
  auto* const fields = static_cast<Field*>(values);
  for (int k = 0; k < count; ++k) {
    fields[k].status = fields[k].field == 90 ? success : not_supported;
    fields[k].type = 1;
    fields[k].value = 26562;
  }
  return success;
}

}  // extern "C"
