#include "src/bootstrap/job_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "src/core/sha256.hpp"

namespace ccl_tests {
namespace {

// The names and values of what must be the same in all processes.
using Terms = std::array<std::pair<const char*, std::string>, 4>;

Terms terms_of(const Hello& hello) {
  return {{{"the version", hello.version},
           {"WORLD_SIZE", std::to_string(hello.processes)},
           {"the number of ranks in a process", std::to_string(hello.ranks_per_process)},
           {"the digest of its flags", hello.settings}}};
}

}  // namespace

std::string job_key(std::string_view job, std::string_view secret) {
  return hmac_sha256(secret, job);
}

std::string job_proof(const std::string& key, Side side, std::string_view nonce) {
  std::string text = side == Side::process ? "process " : "server ";
  return hmac_sha256(key, text.append(nonce));
}

bool are_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  int difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

std::string random_hex(std::size_t digits) {
  std::random_device random;
  std::string out;
  while (out.size() < digits) out += "0123456789abcdef"[random() % 16];
  return out;
}

std::string join_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 16;
  const std::size_t shown = std::min(names.size(), most);
  std::string out = fmt::format("{}", fmt::join(names.data(), names.data() + shown, ", "));
  if (names.size() > shown) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

bool agree(const Hello& a, const Hello& b) { return terms_of(a) == terms_of(b); }

bool agree_but_for_flags(const Hello& a, Hello b) {
  b.settings = a.settings;
  return agree(a, b);
}

std::string difference(const Hello& hello, const Hello& from) {
  const Terms terms = terms_of(hello), others = terms_of(from);
  const auto [one, other] = std::mismatch(terms.begin(), terms.end(), others.begin());
  if (one == terms.end()) return {};
  return fmt::format("{} is {}, on {} it is {}", one->first, one->second, from.name(),
                     other->second);
}

std::string disagreement(std::vector<Hello> all) {
  std::sort(all.begin(), all.end(),
            [](const Hello& a, const Hello& b) { return a.process < b.process; });
  std::vector<std::vector<Hello>> parties;  // of processes that agree
  for (const Hello& hello : all) {
    auto party = std::find_if(parties.begin(), parties.end(),
                              [&](const auto& known) { return agree(known.front(), hello); });
    if (party == parties.end()) party = parties.emplace(party);
    party->push_back(hello);
  }
  const std::vector<Hello>& most =
      *std::max_element(parties.begin(), parties.end(),
                        [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<std::string> lines;
  for (const std::vector<Hello>& party : parties) {
    if (&party == &most) continue;
    std::vector<std::string> names;
    for (const Hello& hello : party) names.push_back(hello.name());
    lines.push_back(
        fmt::format("{}: {}", join_names(names), difference(party.front(), most.front())));
  }
  return fmt::format("the processes do not agree: {}", fmt::join(lines, "; "));
}

std::string twice(const Hello& a, const Hello& b) {
  return fmt::format(
      "{} {} twice: on {} (pid {}) and on {} (pid {}): started twice, or two jobs on one "
      "MASTER_PORT",
      a.ranks(), a.ranks_per_process == 1 ? "exists" : "exist", a.host, a.pid, b.host, b.pid);
}

}  // namespace ccl_tests
