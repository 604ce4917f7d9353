#include "tests/bench/fake_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "src/bootstrap/control_connection.hpp"
#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/store_protocol.hpp"
#include "src/core/error.hpp"

namespace ccl_tests::bench {
namespace {

using asio::ip::tcp;

std::string request_for_key(StoreOp op, const std::string& key) {
  std::string out;
  put(out, op);
  if (op == StoreOp::wait) put<std::uint64_t>(out, 1);
  put_blob(out, "/" + key);
  return out;
}

// One rank: what StoreClient and ControlClient do, without their threads.
class Fake {
 public:
  Fake(asio::io_context& io, const FakeJob& job, int rank, Traffic& traffic)
      : io_(io), job_(job), rank_(rank), traffic_(traffic) {}

  void join(std::function<void()> done) {
    done_ = std::move(done);
    store_.emplace(io_);
    store_->async_connect(local(job_.store_port), [this](std::error_code error) {
      require(!error, "cannot reach the store");
      std::string hello;
      put(hello, StoreOp::validate);
      put(hello, store_magic);
      put(hello, StoreOp::ping);
      put(hello, std::uint32_t{1});
      ask(hello, 4, [this] {
        ask(request_for_key(StoreOp::wait, job_.key), 1, [this] {
          ask(request_for_key(StoreOp::get, job_.key), 8, [this] {
            std::uint64_t size = 0;
            std::memcpy(&size, answer_.data(), sizeof(size));
            ask({}, size, [this] { meet(); });
          });
        });
      });
    });
  }

  void all_gather(std::function<void(const std::string& round)> done) {
    on_round_ = std::move(done);
    send(encode(Contribution{1, 600, contribution_of(rank_, job_.bytes)}));
  }

  void leave(std::function<void()> done) {
    done_ = std::move(done);
    send(encode_frame(FrameType::goodbye));
  }

 private:
  static tcp::endpoint local(int port) {
    return {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)};
  }
  void require(bool good, const char* otherwise) const {
    if (!good) throw Error(fmt::format("fake rank {} {}", rank_, otherwise));
  }

  void ask(std::string bytes, std::size_t answer, std::function<void()> then) {
    question_ = std::move(bytes);
    answer_.assign(answer, '\0');
    then_ = std::move(then);
    traffic_.store_in += question_.size();
    traffic_.store_out += answer;
    asio::async_write(*store_, asio::buffer(question_), [this](std::error_code error, std::size_t) {
      require(!error, "cannot write to the store");
      asio::async_read(*store_, asio::buffer(answer_), [this](std::error_code e, std::size_t) {
        require(!e, "cannot read from the store");
        const auto next = std::move(then_);
        next();
      });
    });
  }

  void meet() {  // the answer is "127.0.0.1:port token"
    store_.reset();
    const std::size_t colon = answer_.find(':'), space = answer_.find(' ');
    require(space != std::string::npos, "does not understand the address");
    tcp::socket socket(io_);
    socket.connect(local(std::stoi(answer_.substr(colon + 1))));
    socket.set_option(tcp::no_delay(true));
    hub_ = std::make_shared<ControlConnection>(std::move(socket));
    hub_->trust();
    hub_->start([this](Frame& frame) { on_frame(frame); },
                [this](const std::string&) { require(false, "is cut off"); });
    traffic_.hub_in += control_magic.size();
    traffic_.hub_out += control_magic.size();
    Hello hello;
    hello.token = answer_.substr(space + 1);
    hello.version = job_.version;
    hello.host = "fake";
    hello.process = rank_;
    hello.processes = job_.ranks;
    hello.pid = ::getpid();
    send(encode(hello));
  }

  void send(std::string bytes) {
    traffic_.hub_in += bytes.size();
    hub_->send(std::move(bytes));
  }

  void on_frame(Frame& frame) {
    traffic_.hub_out += frame_header_bytes + frame.payload.size();
    switch (frame.type) {
      case FrameType::welcome: return send(encode(Contribution{0, 600, {}}));
      case FrameType::round:
        if (on_round_) return on_round_(frame.payload);
        return done_();
      case FrameType::goodbye: hub_->close(); return done_();
      case FrameType::failure: throw Error(decode_failure(frame.payload).message);
      case FrameType::hello:
      case FrameType::accepted:
      case FrameType::heartbeat:
      case FrameType::contribution: return;
    }
  }

  asio::io_context& io_;
  const FakeJob& job_;
  int rank_;
  Traffic& traffic_;
  std::optional<tcp::socket> store_;
  std::shared_ptr<ControlConnection> hub_;
  std::string question_, answer_;
  std::function<void()> then_, done_;
  std::function<void(const std::string&)> on_round_;
};

}  // namespace

std::string contribution_of(int rank, std::size_t bytes) {
  std::string out = fmt::format("rank {} ", rank);
  out.resize(bytes, static_cast<char>('a' + rank % 26));
  return out;
}

class FakeRanks::Impl {
 public:
  explicit Impl(const FakeJob& job) : job_(job) {
    for (int rank = 1; rank < job_.ranks; ++rank) {
      fakes_.push_back(std::make_unique<Fake>(io_, job_, rank, traffic_));
    }
  }

  void join() {
    run([this](Fake& fake) { fake.join(counted_); });
  }
  void all_gather() {
    std::string first;
    run([&](Fake& fake) {
      fake.all_gather([&](const std::string& round) {
        if (first.empty()) first = round;
        if (round != first) throw Error("two ranks received different bytes");
        counted_();
      });
    });
    const std::vector<std::string> all = decode_round(first).bytes;
    if (all.size() != static_cast<std::size_t>(job_.ranks)) throw Error("a rank is missing");
    for (int rank = 0; rank < job_.ranks; ++rank) {
      if (all[static_cast<std::size_t>(rank)] != contribution_of(rank, job_.bytes)) {
        throw Error(fmt::format("the bytes of rank {} are wrong", rank));
      }
    }
  }
  void leave() {
    run([this](Fake& fake) { fake.leave(counted_); });
  }
  const Traffic& traffic() const { return traffic_; }

 private:
  void run(const std::function<void(Fake&)>& begin) {
    done_ = 0;
    for (const auto& fake : fakes_) begin(*fake);
    io_.restart();
    while (done_ < fakes_.size() && io_.run_one() != 0) {
    }
  }

  FakeJob job_;
  asio::io_context io_;
  Traffic traffic_;
  std::size_t done_ = 0;
  std::function<void()> counted_ = [this] { ++done_; };
  std::vector<std::unique_ptr<Fake>> fakes_;
};

FakeRanks::FakeRanks(const FakeJob& job) : impl_(std::make_unique<Impl>(job)) {}
FakeRanks::~FakeRanks() = default;
void FakeRanks::join() { impl_->join(); }
void FakeRanks::all_gather() { impl_->all_gather(); }
void FakeRanks::leave() { impl_->leave(); }
const Traffic& FakeRanks::traffic() const { return impl_->traffic(); }

}  // namespace ccl_tests::bench
