// Lists of tensors as models have them: --tensors.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ccl_tests {

// Elements of each parameter, in the order in which the model defines them. "resnet50": the 161 of
// torchvision's (He et al. 2015; 25 557 032 elements); "llama-block": the 9 of one block of LLaMA
// 7B (Touvron et al. 2023: width 4096, inner width 11008; 202 383 360 elements); "uniform:N": N
// equal ones of one element. Throws UsageError.
std::vector<std::size_t> parse_tensors(const std::string& text);

// A message of `count` elements divided in these proportions; with count their sum, exactly they.
std::vector<std::size_t> scaled(const std::vector<std::size_t>& tensors, std::size_t count);

}  // namespace ccl_tests
