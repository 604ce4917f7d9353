#include "mailboxes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

Mailboxes::Mailboxes(const std::string& name, int rank, int ranks, bool create)
    : rank_(rank), ranks_(ranks) {
  const auto boxes = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
  segment_bytes_ = sizeof(Header) + boxes * sizeof(Box);
  const int file = ::shm_open(name.c_str(), O_RDWR | (create ? O_CREAT | O_EXCL : 0), 0600);
  if (file < 0) throw std::system_error(errno, std::system_category(), "shm_open " + name);
  if (create && ::ftruncate(file, static_cast<off_t>(segment_bytes_)) != 0) {
    const int error = errno;
    ::close(file);
    throw std::system_error(error, std::system_category(), "ftruncate " + name);
  }
  segment_ = ::mmap(nullptr, segment_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int error = errno;
  ::close(file);
  if (segment_ == MAP_FAILED) throw std::system_error(error, std::system_category(), "mmap");
}

Mailboxes::~Mailboxes() { ::munmap(segment_, segment_bytes_); }

// A fresh segment is zero, which is an empty box.
Mailboxes::Box& Mailboxes::box(int from, int to) const {
  auto* const first = reinterpret_cast<Box*>(static_cast<std::byte*>(segment_) + sizeof(Header));
  return first[from * ranks_ + to];
}

void Mailboxes::move(Message& m) {
  Box& b = m.out ? box(rank_, m.peer) : box(m.peer, rank_);
  const std::uint64_t written = b.written.load(std::memory_order_acquire);
  const std::uint64_t read = b.read.load(std::memory_order_acquire);
  const std::uint64_t at = (m.out ? written : read) % box_bytes;
  const std::uint64_t room = m.out ? box_bytes - (written - read) : written - read;
  const std::size_t n = std::min(
      {static_cast<std::size_t>(room), m.bytes - m.done, static_cast<std::size_t>(box_bytes - at)});
  if (n == 0) return;
  if (m.out) {
    std::memcpy(b.data + at, m.data + m.done, n);
    b.written.store(written + n, std::memory_order_release);
  } else {
    std::memcpy(m.data + m.done, b.data + at, n);
    b.read.store(read + n, std::memory_order_release);
  }
  m.done += n;
}

bool Mailboxes::progress(std::vector<Message>& messages) {
  bool all_done = true;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Message& m = messages[i];
    if (m.done == m.bytes) continue;
    const bool waits_for_earlier = std::any_of(
        messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const Message& e) { return e.out == m.out && e.peer == m.peer && e.done < e.bytes; });
    if (!waits_for_earlier) move(m);
    all_done = all_done && m.done == m.bytes;
  }
  return all_done;
}

void Mailboxes::abort() noexcept { static_cast<Header*>(segment_)->aborted.store(true); }
bool Mailboxes::aborted() const { return static_cast<Header*>(segment_)->aborted.load(); }
