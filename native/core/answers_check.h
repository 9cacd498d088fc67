/**
 * Looks for values that no device has. A library with a different struct layout puts other fields in their places, so
 * it gives such values. The result is the first of them in words.
 */
#pragma once

#include <optional>
#include <string>

#include "verbs_abi.h"

namespace meshwright {

std::optional<std::string> impossible_value(const abi::DeviceAttributes& attributes);
std::optional<std::string> impossible_value(const abi::PortAttributes& attributes);

}  // namespace meshwright
