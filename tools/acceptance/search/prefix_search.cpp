#include "tools/acceptance/search/prefix_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ccl_tests::acceptance {
namespace {

constexpr int most_tries = 40;

std::ptrdiff_t at(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

// The hosts in the order of one try. The first `clean` passed together before.
class Prefixes {
 public:
  Prefixes(const SetTest& passes, std::vector<int> hosts, Random& random)
      : passes_(passes), hosts_(std::move(hosts)), random_(random) {
    shuffle(hosts_, random_);
  }

  PrefixFindings run() {
    PrefixFindings found;
    for (int tries = 0; tries < most_tries && hosts_.size() > 1 && !test(hosts_); ++tries) {
      const std::size_t length = smallest_that_fails();
      if (found.fails_from == 0 || length < found.fails_from) found.fails_from = length;
      if (last_is_bad(length)) {
        found.named.push_back(hosts_[length - 1]);
        hosts_.erase(hosts_.begin() + at(length - 1));
        clean_ = std::max(clean_, length - 1);
        turned_ = false;
        full_fails_ = false;
      } else {
        reorder(length);
      }
    }
    return found;
  }

 private:
  bool test(const std::vector<int>& hosts) {
    if (&hosts == &hosts_ && full_fails_) return false;
    const bool passed = passes_(hosts);
    if (&hosts == &hosts_) full_fails_ = !passed;
    return passed;
  }
  std::vector<int> prefix(std::size_t length) const {
    return {hosts_.begin(), hosts_.begin() + at(length)};
  }

  std::size_t smallest_that_fails() {
    std::size_t good = std::max<std::size_t>(clean_, 1), bad = hosts_.size();
    while (bad - good > 1) {
      const std::size_t middle = (good + bad) / 2;
      (test(prefix(middle)) ? good : bad) = middle;
    }
    return bad;
  }

  bool last_is_bad(std::size_t length) {
    if (length == hosts_.size()) return false;  // no other host to put in its place
    std::vector<int> replaced = prefix(length);
    replaced.back() = hosts_[length + below(random_, hosts_.size() - length)];
    return test(replaced) && !test(prefix(length));
  }

  // A bad host among the first ones makes every prefix fail from the needed size on: it has to come
  // last. The clean prefix stays.
  void reorder(std::size_t length) {
    if (clean_ > 0 || turned_ || length == hosts_.size()) {
      std::vector<int> rest(hosts_.begin() + at(clean_), hosts_.end());
      shuffle(rest, random_);
      std::ranges::copy(rest, hosts_.begin() + at(clean_));
    } else {
      std::rotate(hosts_.begin(), hosts_.begin() + at(length), hosts_.end());
    }
    turned_ = !turned_;
  }

  const SetTest& passes_;
  std::vector<int> hosts_;
  Random& random_;
  std::size_t clean_ = 0;
  bool turned_ = false, full_fails_ = false;
};

}  // namespace

std::size_t repeats_per_test(double sigma, double slowdown) {
  const double share = 8.3 * sigma / -std::log1p(-slowdown);
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(share * share)));
}

PrefixFindings prefix_search(const SetTest& passes, std::vector<int> hosts, Random& random) {
  return Prefixes(passes, std::move(hosts), random).run();
}

}  // namespace ccl_tests::acceptance
