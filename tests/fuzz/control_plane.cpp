#include "tests/fuzz/control_plane.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/io_context.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "src/bootstrap/control_connection.hpp"
#include "src/bootstrap/control_server.hpp"
#include "src/bootstrap/job_key.hpp"
#include "tests/unit/bootstrap_raw_socket.hpp"

namespace ccl_tests::fuzz {
namespace {

using test::RawSocket;

// A trusted sender may announce a gigabyte, for which memory is taken: thousands of these in a second say nothing new.
constexpr std::size_t most_announced = 1 << 16;

unsigned char taken(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const auto first = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  return first;
}

std::uint32_t announced(std::string_view header) {
  std::uint32_t length = 0;
  std::memcpy(&length, header.data(), sizeof(length));
  return length;
}

// Returns the frames that `bytes` begins with. Each is complete and has at most `limit` bytes.
std::string_view whole_frames(std::string_view bytes, std::size_t limit) {
  std::size_t end = 0;
  while (bytes.size() - end >= frame_header_bytes) {
    const std::uint32_t length = announced(bytes.substr(end));
    if (length > limit || bytes.size() - end - frame_header_bytes < length) break;
    end += frame_header_bytes + length;
  }
  return bytes.substr(0, end);
}

// Returns `bytes` up to the header of a frame that is long, and not too long to be refused.
std::string_view without_long_frames(std::string_view bytes, std::size_t limit) {
  const std::string_view frames = whole_frames(bytes, std::min(limit, most_announced));
  const std::string_view rest = bytes.substr(frames.size());
  if (rest.size() < frame_header_bytes) return bytes;
  const std::uint32_t length = announced(rest);
  return length > most_announced && length <= limit ? frames : bytes;
}

Hello hello(int process, const std::string& key) {
  Hello h;
  h.nonce = "nonce";
  h.proof = job_proof(key, Side::process, h.nonce);
  h.version = "1.0";
  h.host = "node";
  h.process = process;
  h.processes = 2;
  h.pid = 100 + process;
  return h;
}

}  // namespace

void connection(std::string_view bytes) {
  const unsigned how = taken(bytes);
  const bool trusted = how % 2 == 1;
  const std::size_t piece = 1 + how / 2;
  const std::size_t limit = trusted ? frame_limit : first_frame_limit;
  std::string stream(control_magic);
  stream.append(without_long_frames(bytes, limit));

  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) std::abort();
  const RawSocket peer(ends[0]);
  asio::io_context io;
  const auto mine = std::make_shared<ControlConnection>(
      ControlConnection::Socket(io, asio::generic::stream_protocol(AF_UNIX, 0), ends[1]));
  std::string came;
  int closed = 0;
  mine->start([&](const Frame& frame) { came += encode_frame(frame.type, frame.payload); },
              [&](const std::string& /*why*/) { ++closed; });
  if (trusted) mine->trust();
  for (std::size_t at = 0; at < stream.size() && closed == 0; at += piece) {
    peer.send(std::string_view(stream).substr(at, piece));
    io.poll();
  }
  peer.shutdown();
  while (closed == 0) io.run_one();
  io.poll();
  const std::string_view sent = std::string_view(stream).substr(control_magic.size());
  if (came != whole_frames(sent, limit) || closed != 1) std::abort();
}

void members(std::string_view bytes) {
  static const std::string key = job_key("job", "secret");
  ControlServerOptions options;
  options.self = hello(0, key);
  options.key = key;
  options.listen.address = "127.0.0.1";
  options.heartbeat_s = 100;
  ControlServer server(std::move(options));
  const std::array processes = {RawSocket(server.attach()), RawSocket::connected_to(server.port())};
  std::array<std::string, 2> said;
  for (int p = 0; p < 2; ++p) {
    processes[static_cast<std::size_t>(p)].send(control_magic);
    processes[static_cast<std::size_t>(p)].send(encode(hello(p, key)));
  }
  server.attendance.wait_all_came(20);
  while (!bytes.empty()) {
    const unsigned how = taken(bytes);
    std::string& all = said[how % 2];
    const std::size_t before = all.size();
    all += bytes.substr(0, how / 2);
    bytes.remove_prefix(std::min<std::size_t>(how / 2, bytes.size()));
    const std::string_view sent = without_long_frames(all, frame_limit);
    if (sent.size() > before) processes[how % 2].send(sent.substr(before));
    if (sent.size() < all.size()) break;
  }
  for (const RawSocket& process : processes) process.shutdown();
  server.attendance.wait_all_left(20);
}

}  // namespace ccl_tests::fuzz
