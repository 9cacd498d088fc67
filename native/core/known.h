/** An answer, or the reason why there is none. Unknown never means zero, none or down. */
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace meshwright {

enum class Reason {
  no_library,  // no verbs library can be loaded on this computer
  no_symbol,   // the library has no such function
  failed,      // a call returned an error number, or null
  garbled,     // an answer that no known library gives: probably a different struct layout
};

struct Unknown {
  Reason reason;
  std::string detail;
};

template <typename Value>
using Known = std::variant<Value, Unknown>;

/** The reason, or null if the value is known. */
template <typename Value>
const Unknown* unknown_in(const Known<Value>& seen) {
  return std::get_if<Unknown>(&seen);
}

}  // namespace meshwright
