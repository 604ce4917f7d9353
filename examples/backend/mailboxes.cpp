#include "mailboxes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

using ccl_tests::Message;

namespace {

[[noreturn]] void fail(const std::string& call) {
  throw ccl_tests::Error("shm: " + call + ": " + std::strerror(errno));
}

}  // namespace

Mailboxes::Mailboxes(const std::string& name, int rank, int ranks, Segment segment)
    : rank_(rank), ranks_(ranks) {
  const auto boxes = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
  segment_bytes_ = boxes * sizeof(Box);
  const bool create = segment == Segment::create;
  const int file = ::shm_open(name.c_str(), O_RDWR | (create ? O_CREAT | O_EXCL : 0), 0600);
  if (file < 0) fail("shm_open " + name);
  const bool sized = !create || ::ftruncate(file, static_cast<off_t>(segment_bytes_)) == 0;
  segment_ = sized ? ::mmap(nullptr, segment_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                   : MAP_FAILED;
  if (segment_ == MAP_FAILED) fail("mapping " + name);
  ::close(file);
}

Mailboxes::~Mailboxes() { ::munmap(segment_, segment_bytes_); }

std::string Mailboxes::new_name() {
  return "/ccl-shm-" + std::to_string(::getpid()) + "-" + std::to_string(std::random_device()());
}

void Mailboxes::unlink(const std::string& name) { ::shm_unlink(name.c_str()); }

// A fresh segment is zero, which is an empty box.
Mailboxes::Box& Mailboxes::box(int from, int to) const {
  return static_cast<Box*>(segment_)[from * ranks_ + to];
}

void Mailboxes::move(Message& m) {
  Box& b = m.sends() ? box(rank_, m.peer) : box(m.peer, rank_);
  const std::uint64_t written = b.written.load(std::memory_order_acquire);
  const std::uint64_t read = b.read.load(std::memory_order_acquire);
  const std::uint64_t at = (m.sends() ? written : read) % box_bytes;
  const std::uint64_t room = m.sends() ? box_bytes - (written - read) : written - read;
  const std::size_t n = std::min(
      {static_cast<std::size_t>(room), m.bytes.size(), static_cast<std::size_t>(box_bytes - at)});
  if (n == 0) return;
  if (m.sends()) {
    std::memcpy(b.data + at, m.bytes.data(), n);
    b.written.store(written + n, std::memory_order_release);
  } else {
    std::memcpy(m.bytes.data(), b.data + at, n);
    b.read.store(read + n, std::memory_order_release);
  }
  m.bytes = m.bytes.subspan(n);
}

bool Mailboxes::progress(std::span<Message> messages) {
  bool all_done = true;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Message& m = messages[i];
    if (m.bytes.empty()) continue;
    const auto earlier = messages.first(i);
    const bool waits_for_earlier =
        std::any_of(earlier.begin(), earlier.end(), [&](const Message& e) {
          return e.sends() == m.sends() && e.peer == m.peer && !e.bytes.empty();
        });
    if (!waits_for_earlier) move(m);
    all_done = all_done && m.bytes.empty();
  }
  return all_done;
}
