#include "answers_check.h"

#include <cstdint>
#include <cstring>

#include "verbs_library.h"

namespace meshwright {
namespace {

/** Far above the limits of every known driver, of which the largest are 2^24. */
constexpr std::int64_t largest_limit = std::int64_t{1} << 28;

/** The largest known link layer, and close to the end of the struct. */
constexpr std::int64_t thunderbolt_link_layer = 100;

struct Range {
  const char* field;
  std::int64_t value;
  std::int64_t smallest;
  std::int64_t largest;
};

std::string is(const char* field, std::int64_t value) { return std::string(field) + " is " + std::to_string(value); }

template <std::size_t count>
std::optional<std::string> outside(const Range (&ranges)[count]) {
  for (const auto& [field, value, smallest, largest] : ranges) {
    if (value < smallest || value > largest) return is(field, value);
  }
  return std::nullopt;
}

bool is_single_flag(unsigned flags) { return flags != 0 && (flags & (flags - 1)) == 0; }

}  // namespace

std::optional<std::string> impossible_value(const abi::DeviceAttributes& attributes) {
  if (std::memchr(attributes.fw_ver, 0, sizeof attributes.fw_ver) == nullptr) return "fw_ver does not end";
  return outside({
      {"phys_port_cnt", attributes.phys_port_cnt, 1, max_ports},
      {"max_qp", attributes.max_qp, 1, largest_limit},
      {"max_cq", attributes.max_cq, 1, largest_limit},
      {"max_pd", attributes.max_pd, 1, largest_limit},
      {"max_mr", attributes.max_mr, 1, largest_limit},
  });
}

std::optional<std::string> impossible_value(const abi::PortAttributes& attributes) {
  if (!is_single_flag(attributes.active_width) || attributes.active_width > 16) {
    return is("active_width", attributes.active_width);
  }
  return outside({
      {"state", attributes.state, 0, 5},
      {"max_mtu", attributes.max_mtu, 1, 5},
      {"active_mtu", attributes.active_mtu, 1, attributes.max_mtu},
      {"gid_tbl_len", attributes.gid_tbl_len, 0, max_gids},
      {"link_layer", attributes.link_layer, 0, thunderbolt_link_layer},
  });
}

}  // namespace meshwright
