#include "src/core/error.hpp"

#include <algorithm>
#include <array>

namespace ccl_tests {

int most_severe(int a, int b) {
  constexpr std::array order = {7, 5, 4, 6, 8, 3, 2};
  const auto place = [&](int code) {
    if (code == 0) return order.size() + 1;
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), code) - order.begin());
  };
  return place(b) < place(a) ? b : a;
}

}  // namespace ccl_tests
