// The words between the processes of a job and the server in process 0. On the wire:
// control_magic once in each direction, then frames: payload length in 4 bytes, type in 1, payload. Payloads
// are MessagePack; those of exchanges, of which process 0 handles one of each process at a time, are plain bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/bootstrap/control.hpp"

namespace ccl_tests {

// Returns a text from another process with '?' in the place of each control character: new lines,
// terminal escapes.
std::string printable(std::string_view text);

inline constexpr std::string_view control_magic = "CCLCTL6\n";
inline constexpr std::size_t frame_header_bytes = 5;
inline constexpr std::size_t first_frame_limit = 4096;  // before the sender has proved to be ours
inline constexpr std::size_t frame_limit = std::size_t{1} << 30;
inline constexpr std::size_t contribution_limit = std::size_t{64} << 20;

enum class FrameType : std::uint8_t {
  hello = 1,     // process -> server, first: Hello
  accepted,      // server -> process: process 0's Hello, with the server's proof
  welcome,       // server -> all: everyone is here
  heartbeat,     // both ways
  contribution,  // process -> server: Contribution
  round,         // server -> a team: Round
  failure,       // process -> server: abort; server -> all, and in answer to an abort: Failure
  goodbye,       // both ways; the server also answers it
  refused,       // server -> whoever says hello with a proof of another job
  reported,      // process -> server: it has written what it has to say about a failure
  elsewhere,     // server -> whoever says hello with other settings, as `accepted`: not in this job
};

struct Frame {
  FrameType type = FrameType::heartbeat;
  std::string_view payload;  // valid during the callback that gets the frame
};

// A process's name for itself, and the job that it means to be in.
struct Hello {
  std::string nonce = {}, proof = {};  // see job_key.hpp
  std::string version, host;
  int process = 0, processes = 1, ranks_per_process = 1;
  int pid = 0;
  std::string settings;  // a digest of its flags; empty if they are not compared here
  Failure refusal;       // why it cannot take part; code 0 if it can

  std::vector<int> rank_numbers() const;
  std::string ranks() const;  // "rank 5", "ranks 4-7"
  std::string name() const;   // "rank 5 on node7 (pid 4711)"
  std::string gone() const;   // "rank 5 on node7 (pid 4711) is gone"
  Failure refused() const;    // "rank 5 on node7 (pid 4711) cannot take part: ..."
};
std::string ranks_name(int process, int ranks_per_process);

struct Contribution {
  std::uint64_t round = 0;
  double limit_s = 0;
  std::string bytes;
  Team team = {};  // its processes are named in its round 0 only
  ExchangeKind kind = ExchangeKind::all_gather;
};

struct Round {
  std::uint64_t number = 0;
  std::vector<std::string> bytes;  // in process order
  std::string team = {};
};

// Appends the memory of `value`. All processes of a job, and a store, have one byte order.
template <class T>
void put(std::string& out, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}
// Appends the length in 8 bytes, then the bytes.
inline void put_blob(std::string& out, std::string_view bytes) {
  put<std::uint64_t>(out, bytes.size());
  out += bytes;
}

// Return header and payload.
std::string encode_frame(FrameType type, std::string_view payload = {});
std::string encode(const Hello& hello, FrameType type = FrameType::hello);
std::string encode(const Contribution& contribution);
std::string encode(const Round& round);
std::string encode(const Failure& failure);

// Read a frame's payload; throw Error on anything malformed. Texts that are printed have no control
// characters. A failure's code is one that a program may end with, otherwise Exit::failed.
Hello decode_hello(std::string_view payload);
Contribution decode_contribution(std::string_view payload);
Round decode_round(std::string_view payload);
Failure decode_failure(std::string_view payload);

// Join and part blobs: 8 bytes beside them, and 4 more for each if their sizes differ. pack throws
// Error on too many, unpack on anything malformed.
std::string pack(const std::vector<std::string>& blobs);
std::vector<std::string> unpack(std::string_view bytes);

// Throws a Timeout for code 5, otherwise an Error with the failure's code. Either is FailureThrown,
// too.
[[noreturn]] void throw_failure(const Failure& failure);

}  // namespace ccl_tests
