/**
 * Asks the verbs library about every device. The probe opens each device, queries it and closes it; it opens no
 * protection domain and no queue pair, because macOS has few of them and frees some only at the next boot.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "known.h"
#include "verbs_library.h"

namespace meshwright {

struct GidEntry {
  int index;
  abi::Gid gid;
};

struct Port {
  int number;
  abi::PortAttributes attributes;
  std::vector<GidEntry> gids;  // without empty entries
};

struct OpenedDevice {
  abi::DeviceAttributes attributes;
  std::vector<Port> ports;
};

struct DeviceReport {
  Known<std::string> name;
  Guid guid;
  std::optional<std::int32_t> transport_type;
  Known<OpenedDevice> opened;
};

struct ProbeReport {
  std::string library;  // empty if none could be loaded
  Known<std::vector<DeviceReport>> devices;
};

ProbeReport probe();

/** True for `::ffff:a.b.c.d`, which a port has once its interface has an IPv4 address. */
bool is_ipv4_mapped(const abi::Gid& gid);

}  // namespace meshwright
