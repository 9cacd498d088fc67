#include "probe.h"

#include <algorithm>
#include <cstring>

#include "answers_check.h"

namespace meshwright {
namespace {

/** `ibv_devinfo` skips the same entries: those without an interface identifier. */
bool is_empty(const abi::Gid& gid) {
  return std::all_of(gid.raw + 8, gid.raw + 16, [](unsigned char byte) { return byte == 0; });
}

Known<Port> probe_port(const OpenDevice& device, int number) {
  const auto port_number = static_cast<std::uint8_t>(number);
  const Known<abi::PortAttributes> queried = device.query_port(port_number);
  if (const Unknown* why = unknown_in(queried)) return *why;
  const auto& attributes = std::get<abi::PortAttributes>(queried);
  if (const auto impossible = impossible_value(attributes)) {
    return Unknown{Reason::garbled, *impossible + " at port " + std::to_string(number)};
  }
  Port port{number, attributes, {}};
  for (int index = 0; index < attributes.gid_tbl_len; ++index) {
    const Known<abi::Gid> entry = device.query_gid(port_number, index);
    if (const Unknown* why = unknown_in(entry)) {
      return Unknown{why->reason, why->detail + " for index " + std::to_string(index)};
    }
    const auto& gid = std::get<abi::Gid>(entry);
    if (!is_empty(gid)) port.gids.push_back({index, gid});
  }
  return port;
}

Known<OpenedDevice> probe_open(const OpenDevice& device) {
  const Known<abi::DeviceAttributes> queried = device.query_device();
  if (const Unknown* why = unknown_in(queried)) return *why;
  OpenedDevice opened{std::get<abi::DeviceAttributes>(queried), {}};
  if (const auto impossible = impossible_value(opened.attributes)) return Unknown{Reason::garbled, *impossible};
  for (int number = 1; number <= opened.attributes.phys_port_cnt; ++number) {
    Known<Port> port = probe_port(device, number);
    if (const Unknown* why = unknown_in(port)) return *why;
    opened.ports.push_back(std::move(std::get<Port>(port)));
  }
  return opened;
}

/** If the device cannot be closed, an object may have leaked, so the answers alone would hide a fault. */
Known<OpenedDevice> probe_device(const VerbsLibrary& verbs, abi::Device* device) {
  Known<OpenDevice> open = verbs.open_device(device);
  if (const Unknown* why = unknown_in(open)) return *why;
  auto& opened = std::get<OpenDevice>(open);
  Known<OpenedDevice> answers = probe_open(opened);
  const Known<std::monostate> closed = opened.close();
  if (const Unknown* why = unknown_in(closed)) return *why;
  return answers;
}

Known<std::vector<DeviceReport>> probe_all(const VerbsLibrary& verbs) {
  const Known<DeviceList> list = verbs.get_device_list();
  if (const Unknown* why = unknown_in(list)) return *why;
  std::vector<DeviceReport> reports;
  for (abi::Device* device : std::get<DeviceList>(list).devices()) {
    reports.push_back({verbs.get_device_name(device), verbs.get_device_guid(device), verbs.transport_type(device),
                       probe_device(verbs, device)});
  }
  return reports;
}

}  // namespace

ProbeReport probe() {
  const Known<VerbsLibrary> library = VerbsLibrary::load();
  if (const Unknown* why = unknown_in(library)) return {"", *why};
  const auto& verbs = std::get<VerbsLibrary>(library);
  return {verbs.name(), probe_all(verbs)};
}

bool is_ipv4_mapped(const abi::Gid& gid) {
  static constexpr unsigned char prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, prefix, sizeof prefix) == 0;
}

}  // namespace meshwright
