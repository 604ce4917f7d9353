#include "src/options/tensor_lists.hpp"

#include <numeric>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

// A convolution without bias, then a batch norm's weight and bias.
void add_convolution(std::vector<std::size_t>& list, std::size_t in, std::size_t out,
                     std::size_t kernel) {
  list.push_back(in * out * kernel * kernel);
  list.push_back(out);
  list.push_back(out);
}

std::vector<std::size_t> resnet50() {
  std::vector<std::size_t> list;
  add_convolution(list, 3, 64, 7);
  std::size_t in = 64;
  std::size_t width = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      add_convolution(list, in, width, 1);
      add_convolution(list, width, width, 3);
      add_convolution(list, width, 4 * width, 1);
      if (block == 0) add_convolution(list, in, 4 * width, 1);  // the shortcut
      in = 4 * width;
    }
    width *= 2;
  }
  list.push_back(in * 1000);
  list.push_back(1000);
  return list;
}

std::vector<std::size_t> llama_block() {
  constexpr std::size_t width = 4096;
  constexpr std::size_t inner = 11008;
  // Queries, keys, values and output; gate, down and up; two norms.
  std::vector<std::size_t> list(4, width * width);
  list.insert(list.end(), 3, width * inner);
  list.insert(list.end(), 2, width);
  return list;
}

}  // namespace

std::vector<std::size_t> parse_tensors(const std::string& text) {
  constexpr std::string_view uniform = "uniform:";
  constexpr int most = 1 << 20;
  if (text == "resnet50") return resnet50();
  if (text == "llama-block") return llama_block();
  if (text.starts_with(uniform)) {
    const int number = parse_int(text.substr(uniform.size()), 1, most);
    return std::vector<std::size_t>(static_cast<std::size_t>(number), 1);
  }
  throw UsageError(unknown_name("list", text, {"resnet50", "llama-block", "uniform:N"}));
}

std::vector<std::size_t> scaled(const std::vector<std::size_t>& tensors, std::size_t count) {
  const std::size_t all = std::accumulate(tensors.begin(), tensors.end(), std::size_t{0});
  std::vector<std::size_t> result;
  for (const std::size_t elements : tensors)  // count * elements / all without its overflow
    result.push_back(count / all * elements + count % all * elements / all);
  return result;
}

}  // namespace ccl_tests
