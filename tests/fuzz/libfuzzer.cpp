// A target for libFuzzer. FUZZ_TARGET: its name.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ccl_tests::fuzz::Target& target = ccl_tests::fuzz::target(FUZZ_TARGET);
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
