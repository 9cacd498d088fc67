/** The verbs library of this computer, loaded at run time, and every call that the probe makes. `queue_pair.cc` has those of the link test. */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "known.h"
#include "verbs_abi.h"

namespace meshwright {

/** No Mac has more than six devices. The limits bound the output and the time, whatever the library answers. */
constexpr int max_devices = 64;
constexpr int max_ports = 8;
constexpr int max_gids = 1024;

/** A device's GUID, in the order in which it is printed. */
using Guid = std::array<unsigned char, 8>;

/** The exported functions, under their names without `ibv_`. */
struct VerbsFunctions {
  abi::Device** (*get_device_list)(int* count);
  void (*free_device_list)(abi::Device** list);
  const char* (*get_device_name)(abi::Device* device);
  std::uint64_t (*get_device_guid)(abi::Device* device);
  abi::Context* (*open_device)(abi::Device* device);
  int (*close_device)(abi::Context* context);
  int (*query_device)(abi::Context* context, abi::DeviceAttributes* attributes);
  int (*query_port)(abi::Context* context, std::uint8_t port, abi::PortAttributes* attributes);
  int (*query_gid)(abi::Context* context, std::uint8_t port, int index, abi::Gid* gid);
};

/** The exported functions that only the link test calls. */
struct LinkFunctions {
  abi::ProtectionDomain* (*alloc_pd)(abi::Context* context);
  int (*dealloc_pd)(abi::ProtectionDomain* domain);
  abi::MemoryRegion* (*reg_mr)(abi::ProtectionDomain* domain, void* memory, std::size_t length, int access);
  int (*dereg_mr)(abi::MemoryRegion* region);
  abi::CompletionQueue* (*create_cq)(abi::Context* context, int entries, void* own, void* channel, int vector);
  int (*destroy_cq)(abi::CompletionQueue* queue);
  abi::QueuePair* (*create_qp)(abi::ProtectionDomain* domain, abi::QueuePairInit* init);
  int (*modify_qp)(abi::QueuePair* pair, abi::QueuePairAttributes* attributes, int mask);
  int (*destroy_qp)(abi::QueuePair* pair);
};

/** Why a call failed, with its error number if it gave one. */
Unknown failed(const char* call, int number);

/** The failure of a call with this result; nothing if it succeeded. Verbs return an error number, or -1 and errno. */
std::optional<Unknown> failure_of(const char* call, int status);

class VerbsLibrary;

/** The devices of one `ibv_get_device_list`, valid until this object ends. */
class DeviceList {
 public:
  DeviceList(const VerbsLibrary& library, abi::Device** list, int count);
  DeviceList(DeviceList&& other) noexcept;
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  DeviceList& operator=(DeviceList&&) = delete;
  ~DeviceList();

  [[nodiscard]] const std::vector<abi::Device*>& devices() const { return devices_; }

 private:
  const VerbsLibrary& library_;
  abi::Device** list_;
  std::vector<abi::Device*> devices_;
};

/** An open device. Its destructor closes it; `close` also reports whether that succeeded. */
class OpenDevice {
 public:
  OpenDevice(const VerbsLibrary& library, abi::Context* context);
  OpenDevice(OpenDevice&& other) noexcept;
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;
  OpenDevice& operator=(OpenDevice&&) = delete;
  ~OpenDevice();

  [[nodiscard]] Known<abi::DeviceAttributes> query_device() const;
  [[nodiscard]] Known<abi::PortAttributes> query_port(std::uint8_t port) const;
  [[nodiscard]] Known<abi::Gid> query_gid(std::uint8_t port, int index) const;
  [[nodiscard]] Known<std::monostate> close();
  /** For the calls of the link test; valid until the device is closed. */
  [[nodiscard]] abi::Context* context() const { return context_; }

 private:
  const VerbsLibrary& library_;
  abi::Context* context_;
};

class VerbsLibrary {
 public:
  /**
   * Loads librdma.dylib (macOS) or libibverbs.so.1 (Linux); for tests, only the path in MESHWRIGHT_VERBS_LIBRARY. The
   * library stays loaded until the process ends.
   */
  static Known<VerbsLibrary> load();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Known<DeviceList> get_device_list() const;
  [[nodiscard]] Known<std::string> get_device_name(abi::Device* device) const;
  [[nodiscard]] Guid get_device_guid(abi::Device* device) const;
  /** Read from the struct, unless the name is in a different place there: then this struct has a different layout. */
  [[nodiscard]] std::optional<std::int32_t> transport_type(const abi::Device* device) const;
  [[nodiscard]] Known<OpenDevice> open_device(abi::Device* device) const;
  [[nodiscard]] Known<LinkFunctions> link_functions() const;

 private:
  friend class DeviceList;
  friend class OpenDevice;

  VerbsLibrary(std::string name, void* library, VerbsFunctions functions);

  std::string name_;
  void* library_;
  VerbsFunctions verbs_;
};

}  // namespace meshwright
