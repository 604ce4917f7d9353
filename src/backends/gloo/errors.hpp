// Gloo's exceptions as ours.
#pragma once

#include <gloo/common/error.h>
#include <gloo/common/logging.h>

#include <string>
#include <utility>

#include "src/core/error.hpp"

namespace ccl_tests::gloo_module {

// Runs f; Gloo's exceptions become Error, or Timeout when their text says that a wait reached its
// limit. more(text) is what is said behind their text.
template <class F, class More>
decltype(auto) translated(F&& f, More&& more) {
  const auto rethrow = [&](const std::string& what) {
    const bool timeout =
        what.find("Timed out") != std::string::npos || what.find("imeout") != std::string::npos;
    if (timeout) throw Timeout("gloo: " + what + more(what));
    throw Error("gloo: " + what + more(what));
  };
  try {
    return f();
  } catch (const gloo::Exception& e) {
    rethrow(e.what());
    throw;
  } catch (const gloo::EnforceNotMet& e) {
    rethrow(e.what());
    throw;
  }
}

template <class F>
decltype(auto) translated(F&& f) {
  return translated(std::forward<F>(f), [](const std::string&) { return ""; });
}

}  // namespace ccl_tests::gloo_module
