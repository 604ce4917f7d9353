// all_reduce by Gloo's old AllreduceHalvingDoubling class, whose objects are bound to one buffer
// and expensive to make.
#pragma once

#include <gloo/algorithm.h>
#include <gloo/context.h>

#include <list>
#include <memory>
#include <tuple>

#include "src/core/types.hpp"

namespace ccl_tests::gloo_module {

// Objects by buffer, count, type and operation; all go when there are too many. Making one is
// collective, so all ranks must use as many distinct buffers in the same order, as a sweep of one
// collective does; composites do not, and are refused.
class HalvingDoubling {
 public:
  explicit HalvingDoubling(std::shared_ptr<gloo::Context> context) : context_(std::move(context)) {}

  // In place. avg and mulsum are summed. count < 2^31 (the class counts in int); throws Unsupported
  // beyond.
  void all_reduce(void* data, std::size_t count, DataType type, ReduceOp op);

 private:
  void clear();  // collective

  using Key = std::tuple<void*, std::size_t, DataType, ReduceOp>;
  struct Entry {
    Key key;
    std::unique_ptr<gloo::Algorithm> algorithm;
  };

  std::shared_ptr<gloo::Context> context_;
  std::list<Entry> entries_;  // most recently used first
};

}  // namespace ccl_tests::gloo_module
