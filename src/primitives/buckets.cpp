#include "src/primitives/buckets.hpp"

#include <array>

namespace ccl_tests::primitives {
namespace {

constexpr std::size_t type_count = static_cast<std::size_t>(DataType::f8e5m2) + 1;

std::size_t index(DataType type) { return static_cast<std::size_t>(type); }

// Where a type's tensors lie in `room`, behind each other, and which of them are not sent yet.
struct Running {
  std::size_t tensors = 0;  // in the whole list
  std::size_t begin = 0, end = 0, bytes = 0;
};

}  // namespace

void take_tensors(std::span<const Tensor> tensors, std::size_t limit_bytes, std::span<Tensor> room,
                  const std::function<void(std::span<const Tensor>)>& send) {
  std::array<Running, type_count> running;
  std::array<std::size_t, type_count> appeared{};
  std::size_t types = 0;
  for (const Tensor& tensor : tensors) {
    if (running[index(tensor.type)].tensors++ == 0) appeared[types++] = index(tensor.type);
  }
  std::size_t place = 0;
  for (Running& type : running) {
    type.begin = type.end = place;
    place += type.tensors;
  }
  const auto send_bucket = [&](Running& type) {
    send(room.subspan(type.begin, type.end - type.begin));
    type.begin = type.end;
    type.bytes = 0;
  };
  for (const Tensor& tensor : tensors) {
    Running& type = running[index(tensor.type)];
    if (type.bytes > 0 && type.bytes + tensor.bytes() > limit_bytes) send_bucket(type);
    room[type.end++] = tensor;
    type.bytes += tensor.bytes();
  }
  for (std::size_t t = 0; t < types; ++t) {
    Running& type = running[appeared[t]];
    if (type.begin < type.end) send_bucket(type);
  }
}

}  // namespace ccl_tests::primitives
