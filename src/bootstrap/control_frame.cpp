#include "src/bootstrap/control_frame.hpp"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "src/core/error.hpp"
#include "src/core/serialize.hpp"

namespace ccl_tests {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Failure, code, message, gone, late, gone_hosts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hello, nonce, proof, version, host, process, processes,
                                   ranks_per_process, pid, settings, refusal)

namespace {

constexpr std::uint32_t size_of_its_own = 0xffffffff;
constexpr std::uint32_t most_blobs = 1 << 20;  // empty ones take no bytes of a frame, but memory

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    T value{};
    const std::string_view bytes = take(sizeof(T));
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::string blob() { return std::string(take(number<std::uint64_t>())); }
  void end() const {
    if (!rest_.empty()) throw Error("a control frame is longer than it should be");
  }
  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size()) throw Error("a control frame is shorter than it should be");
    const std::string_view front = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return front;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// Returns whether it is 2 to 8, or 128 and a signal.
bool is_failure(int code) { return (code >= 2 && code <= 8) || (code > 128 && code < 160); }

// Throws Error unless ranks can be numbered and named.
void require_sane_numbers(const Hello& hello) {
  constexpr std::int64_t most_ranks = std::numeric_limits<int>::max();
  const bool sane = hello.processes >= 1 && hello.process >= 0 && hello.ranks_per_process >= 1 &&
                    hello.process < hello.processes && hello.pid >= 0 &&
                    std::int64_t{hello.processes} * hello.ranks_per_process <= most_ranks;
  const bool can_refuse = hello.refusal.code == 0 || is_failure(hello.refusal.code);
  if (!sane || !can_refuse) throw Error("it has numbers that no process of a job has");
}

struct ThrownTimeout : Timeout, FailureThrown {
  explicit ThrownTimeout(const Failure& why) : Timeout(why.message), FailureThrown{why} {}
};
struct ThrownError : Error, FailureThrown {
  explicit ThrownError(const Failure& why)
      : Error(why.message, static_cast<Exit>(why.code)), FailureThrown{why} {}
};

}  // namespace

std::string printable(std::string_view text) {
  std::string out(text);
  unsigned char before = 0;
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_c1 = before == 0xc2 && byte >= 0x80 && byte <= 0x9f;  // U+0080 to U+009F in UTF-8
    if (byte < 0x20 || byte == 0x7f || is_c1) c = '?';
    before = byte;
  }
  return out;
}

std::string ranks_name(int process, int ranks_per_process) {
  if (ranks_per_process == 1) return fmt::format("rank {}", process);
  const int first = process * ranks_per_process;
  return fmt::format("ranks {}-{}", first, first + ranks_per_process - 1);
}

std::string Hello::ranks() const { return ranks_name(process, ranks_per_process); }
std::string Hello::name() const { return fmt::format("{} on {} (pid {})", ranks(), host, pid); }

std::vector<int> Hello::rank_numbers() const {
  std::vector<int> numbers(static_cast<std::size_t>(ranks_per_process));
  std::iota(numbers.begin(), numbers.end(), process * ranks_per_process);
  return numbers;
}

std::string Hello::gone() const {
  return name() + (ranks_per_process == 1 ? " is gone" : " are gone");
}

Failure Hello::refused() const {
  return {refusal.code, fmt::format("{} cannot take part: {}", name(), refusal.message)};
}

std::string encode_frame(FrameType type, std::string_view payload) {
  if (payload.size() > frame_limit)
    throw Error(fmt::format("{} bytes are too many for the control plane", payload.size()));
  std::string out;
  out.reserve(frame_header_bytes + payload.size());
  put(out, static_cast<std::uint32_t>(payload.size()));
  put(out, type);
  out += payload;
  return out;
}

std::string encode(const Hello& hello, FrameType type) {
  constexpr std::size_t longest_refusal = 2000;  // bytes; a hello fits into first_frame_limit
  Hello shown = hello;
  shown.refusal.message = hello.refusal.message.substr(0, longest_refusal);
  return encode_frame(type, to_bytes(shown));
}

Hello decode_hello(std::string_view payload) {
  auto hello = from_bytes<Hello>(payload);
  for (std::string* text : {&hello.version, &hello.host, &hello.refusal.message})
    *text = printable(*text);
  require_sane_numbers(hello);
  return hello;
}

std::string encode(const Contribution& contribution) {
  std::string out;
  out.reserve(contribution.bytes.size() + contribution.team.name.size() + 48);
  put(out, contribution.round);
  put(out, contribution.limit_s);
  put_blob(out, contribution.bytes);
  put_blob(out, contribution.team.name);
  put(out, contribution.kind);
  put(out, contribution.team.root);
  put(out, static_cast<std::uint32_t>(contribution.team.processes.size()));
  for (const int process : contribution.team.processes) put(out, process);
  return encode_frame(FrameType::contribution, out);
}

Contribution decode_contribution(std::string_view payload) {
  Reader in(payload);
  Contribution contribution;
  contribution.round = in.number<std::uint64_t>();
  contribution.limit_s = in.number<double>();
  contribution.bytes = in.blob();
  contribution.team.name = in.blob();
  contribution.kind = in.number<ExchangeKind>();
  if (contribution.kind > ExchangeKind::broadcast) throw Error("an exchange of an unknown kind");
  contribution.team.root = in.number<int>();
  for (auto n = in.number<std::uint32_t>(); n > 0; --n)
    contribution.team.processes.push_back(in.number<int>());
  in.end();
  return contribution;
}

std::string encode(const Round& round) {
  std::string out;
  put(out, round.number);
  put_blob(out, round.team);
  out += pack(round.bytes);
  return encode_frame(FrameType::round, out);
}

Round decode_round(std::string_view payload) {
  Reader in(payload);
  Round round;
  round.number = in.number<std::uint64_t>();
  round.team = in.blob();
  round.bytes = unpack(in.rest());
  return round;
}

std::string encode(const Failure& failure) {
  return encode_frame(FrameType::failure, to_bytes(failure));
}

Failure decode_failure(std::string_view payload) {
  auto failure = from_bytes<Failure>(payload);
  if (!is_failure(failure.code)) failure.code = exit_code(Exit::failed);
  failure.message = printable(failure.message);
  return failure;
}

// Writes their number, the size that all have or size_of_its_own and then each one's size, their
// bytes.
std::string pack(const std::vector<std::string>& blobs) {
  std::uint64_t bytes = 0;
  bool equal = true;
  for (const std::string& blob : blobs) {
    bytes += blob.size();
    equal &= blob.size() == blobs.front().size();
  }
  if (bytes >= size_of_its_own || blobs.size() > most_blobs)
    throw Error(fmt::format("{} blobs of {} bytes are too many for the control plane", blobs.size(),
                            bytes));
  std::string out;
  out.reserve(bytes + (2 + (equal ? 0 : blobs.size())) * sizeof(std::uint32_t));
  put(out, static_cast<std::uint32_t>(blobs.size()));
  const std::size_t common = blobs.empty() ? 0 : blobs.front().size();
  put(out, equal ? static_cast<std::uint32_t>(common) : size_of_its_own);
  if (!equal)
    for (const std::string& blob : blobs) put(out, static_cast<std::uint32_t>(blob.size()));
  for (const std::string& blob : blobs) out += blob;
  return out;
}

std::vector<std::string> unpack(std::string_view bytes) {
  Reader in(bytes);
  const auto count = in.number<std::uint32_t>();
  const auto common = in.number<std::uint32_t>();
  if (count > most_blobs) throw Error("a control frame of too many parts");
  Reader sizes(common == size_of_its_own ? in.take(count * sizeof(common)) : std::string_view());
  std::vector<std::string> blobs;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto size = common == size_of_its_own ? sizes.number<std::uint32_t>() : common;
    blobs.emplace_back(in.take(size));
  }
  in.end();
  return blobs;
}

void throw_failure(const Failure& failure) {
  if (failure.code == exit_code(Exit::timed_out)) throw ThrownTimeout(failure);
  throw ThrownError(failure);
}

}  // namespace ccl_tests
