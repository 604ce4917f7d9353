// Calls of Gloo: exceptions become ours, elements are known by their width.
#pragma once

#include <gloo/common/error.h>
#include <gloo/common/logging.h>

#include <string>
#include <utility>

#include "src/core/communicator.hpp"
#include "src/core/error.hpp"
#include "verify/width.hpp"

namespace ccl_tests::gloo_module {

// Throws Error, or Timeout if Gloo's text says that a wait reached its limit.
[[noreturn]] inline void fail(const std::string& what, const std::string& more) {
  const bool timeout =
      what.find("Timed out") != std::string::npos || what.find("imeout") != std::string::npos;
  if (timeout) throw Timeout("gloo: " + what + more);
  throw Error("gloo: " + what + more);
}

// Runs f. Gloo's exceptions become ours; more(text) is said after their text.
template <class F, class More>
decltype(auto) translated(F&& f, More&& more) {
  try {
    return f();
  } catch (const gloo::Exception& e) {
    fail(e.what(), more(e.what()));
  } catch (const gloo::EnforceNotMet& e) {
    fail(e.what(), more(e.what()));
  }
}

template <class F>
decltype(auto) translated(F&& f) {
  return translated(std::forward<F>(f), [](const std::string&) { return ""; });
}

template <class U>
U* elements(const void* p) {
  return static_cast<U*>(const_cast<void*>(p));
}

// Calls f.operator()<U>() with an unsigned integer as wide as the call's elements, since Gloo's
// collectives see elements only by their width. Gloo's exceptions become ours.
template <class F>
void by_width(const Call& call, F&& f) {
  translated([&] { verify::with_width(size_of(call.type), f); });
}

}  // namespace ccl_tests::gloo_module
