#include "tests/fuzz/targets.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "collectives/collectives.hpp"
#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/launch.hpp"
#include "src/bootstrap/rank_status.hpp"
#include "src/bootstrap/store_client.hpp"
#include "src/core/error.hpp"
#include "src/inject/fault.hpp"
#include "src/options/options.hpp"
#include "src/record/read.hpp"
#include "src/run/rank_report.hpp"
#include "tests/fuzz/control_plane.hpp"
#include "tests/unit/bootstrap_raw_socket.hpp"

namespace ccl_tests::fuzz {
namespace {

// The first byte chooses what the others are given to.
char taken(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const char first = bytes.front();
  bytes.remove_prefix(1);
  return first;
}

void frames(std::string_view bytes) {
  const int kind = static_cast<unsigned char>(taken(bytes)) % 10;
  try {
    switch (kind) {
      case 0: encode(decode_hello(bytes)); break;
      case 1: encode(decode_contribution(bytes)); break;
      case 2: encode(decode_round(bytes)); break;
      case 3: encode(decode_failure(bytes)); break;
      case 4: pack(unpack(bytes)); break;
      case 5: to_text(rank_report(bytes)); break;
      case 6: to_text(samples_of(bytes)); break;
      case 7: moments_to_text(samples_of_moments(bytes)); break;
      case 8: to_text(statuses_of(bytes)); break;
      default: first_host(std::string(bytes)); break;
    }
  } catch (const Error&) {
    return;
  }
}

// Words are lines; a line `NAME=value` sets an environment variable.
void command_line(std::string_view bytes) {
  const auto programs = collectives::all();
  const Collective& program = *programs[static_cast<unsigned char>(taken(bytes)) % programs.size()];
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> variables;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    const std::size_t equals = line.find('=');
    // Whose value names a file or folder may read or write there.
    const bool names_file = line.find("FILE") != line.npos || line.find("shared") != line.npos;
    if (names_file) continue;
    if (line.starts_with("NCCL") && equals != line.npos) {
      variables.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    } else {
      words.emplace_back(line);
    }
  }
  const auto environment = [&](const char* name) -> std::optional<std::string> {
    for (const auto& [key, value] : variables)
      if (key == name) return value;
    return std::nullopt;
  };
  try {
    parse_options(program, words, environment);
  } catch (const Error&) {
    return;
  }
}

void faults(std::string_view bytes) {
  try {
    const Fault fault = parse_fault(bytes);
    if (text_of(parse_fault(text_of(fault))) != text_of(fault)) std::abort();
  } catch (const UsageError&) {
    return;
  }
}

void results_file(std::string_view bytes) {
  static const int file = memfd_create("results.jsonl", MFD_CLOEXEC);
  if (ftruncate(file, 0) != 0 ||
      pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  try {
    read_runs("/proc/self/fd/" + std::to_string(file));
  } catch (const Error&) {
    return;
  }
}

// What a store answers to a client that has found it, whatever it was asked for.
void store_replies(std::string_view bytes) {
  const auto listener = test::RawSocket::listening();
  std::thread store([&] {
    const int peer = accept(listener.descriptor(), nullptr, nullptr);
    if (peer < 0) return;
    std::string said;
    put(said, static_cast<std::uint32_t>(getpid()));  // what the client asks a store to repeat
    said += bytes;
    if (send(peer, said.data(), said.size(), MSG_NOSIGNAL) >= 0) shutdown(peer, SHUT_WR);
    std::array<char, 4096> ignored;
    while (recv(peer, ignored.data(), ignored.size(), 0) > 0) continue;
    close(peer);
  });
  try {
    StoreClient client("127.0.0.1", listener.port(), deadline_in(2));
    client.set("key", "value", deadline_in(2));
    client.get("key", deadline_in(2));
    client.remove("key", deadline_in(2));
  } catch (const Error&) {
  }
  store.join();
}

constexpr std::array all = {Target{"frames", frames},
                            Target{"connection", connection},
                            Target{"members", members},
                            Target{"command_line", command_line},
                            Target{"faults", faults},
                            Target{"results_file", results_file},
                            Target{"store_replies", store_replies}};

}  // namespace

std::span<const Target> targets() { return all; }

const Target& target(std::string_view name) {
  for (const Target& one : all)
    if (one.name == name) return one;
  throw std::out_of_range("no target " + std::string(name));
}

}  // namespace ccl_tests::fuzz
