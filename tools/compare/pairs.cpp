#include "tools/compare/pairs.hpp"

#include <cmath>
#include <set>

namespace ccl_tests::compare {

std::vector<double> RowPairs::log_ratios() const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < size(); ++i)
    ratios.push_back(std::log(head[i].seconds / base[i].seconds));
  return ratios;
}

Matched match(const std::vector<RunPair>& pairs) {
  Matched matched;
  std::set<RowKey> base, head;
  for (const RunPair& pair : pairs) {
    for (const auto& [key, time] : pair.base) {
      base.insert(key);
      const auto other = pair.head.find(key);
      if (other == pair.head.end()) continue;
      RowPairs& row = matched.rows[key];
      row.base.push_back(time);
      row.head.push_back(other->second);
    }
    for (const auto& [key, time] : pair.head) head.insert(key);
  }
  for (const RowKey& key : base) matched.only_base += matched.rows.contains(key) ? 0 : 1;
  for (const RowKey& key : head) matched.only_head += matched.rows.contains(key) ? 0 : 1;
  return matched;
}

}  // namespace ccl_tests::compare
