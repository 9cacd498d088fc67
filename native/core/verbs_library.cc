#include "verbs_library.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "room.h"

namespace meshwright {
namespace {

template <typename Answer>
Known<Answer> answer_of(const char* call, int status, const Room<Answer>& room) {
  if (const auto failure = failure_of(call, status)) return *failure;
  if (!room.is_written()) return Unknown{Reason::garbled, std::string(call) + " succeeded without an answer"};
  return room.answer();
}

Unknown no_function(const std::string& library, const std::string& function) {
  return {Reason::no_symbol, library + " has no function " + function};
}

template <typename Function>
bool resolve(void* library, const char* symbol, Function*& function, std::string& missing) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (function == nullptr && missing.empty()) missing = symbol;
  return function != nullptr;
}

}  // namespace

Unknown failed(const char* call, int number) {
  if (number == 0) return {Reason::failed, std::string(call) + " failed without an error number"};
  return {Reason::failed, std::string(call) + " failed with error " + std::to_string(number)};
}

std::optional<Unknown> failure_of(const char* call, int status) {
  if (status == 0) return std::nullopt;
  if (status > 0) return failed(call, status);
  return failed(call, errno == 0 ? status : errno);
}

VerbsLibrary::VerbsLibrary(std::string name, void* library, VerbsFunctions functions)
    : name_(std::move(name)), library_(library), verbs_(functions) {}

Known<VerbsLibrary> VerbsLibrary::load() {
  const char* only = std::getenv("MESHWRIGHT_VERBS_LIBRARY");
  const std::vector<std::string> names =
      only != nullptr ? std::vector<std::string>{only} : std::vector<std::string>{"librdma.dylib", "libibverbs.so.1"};
  void* library = nullptr;
  std::string name;
  std::string detail;
  for (const std::string& candidate : names) {
    library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
      name = candidate;
      break;
    }
    const char* error = dlerror();
    detail += (detail.empty() ? "" : "; ") + std::string(error == nullptr ? candidate + " cannot be loaded" : error);
  }
  if (library == nullptr) return Unknown{Reason::no_library, detail};

  VerbsFunctions verbs{};
  std::string missing;
  resolve(library, "ibv_get_device_list", verbs.get_device_list, missing);
  resolve(library, "ibv_free_device_list", verbs.free_device_list, missing);
  resolve(library, "ibv_get_device_name", verbs.get_device_name, missing);
  resolve(library, "ibv_get_device_guid", verbs.get_device_guid, missing);
  resolve(library, "ibv_open_device", verbs.open_device, missing);
  resolve(library, "ibv_close_device", verbs.close_device, missing);
  resolve(library, "ibv_query_device", verbs.query_device, missing);
  resolve(library, "ibv_query_port", verbs.query_port, missing);
  resolve(library, "ibv_query_gid", verbs.query_gid, missing);
  if (!missing.empty()) return no_function(name, missing);
  return VerbsLibrary(name, library, verbs);
}

Known<LinkFunctions> VerbsLibrary::link_functions() const {
  LinkFunctions link{};
  std::string missing;
  resolve(library_, "ibv_alloc_pd", link.alloc_pd, missing);
  resolve(library_, "ibv_dealloc_pd", link.dealloc_pd, missing);
  resolve(library_, "ibv_reg_mr", link.reg_mr, missing);
  resolve(library_, "ibv_dereg_mr", link.dereg_mr, missing);
  resolve(library_, "ibv_create_cq", link.create_cq, missing);
  resolve(library_, "ibv_destroy_cq", link.destroy_cq, missing);
  resolve(library_, "ibv_create_qp", link.create_qp, missing);
  resolve(library_, "ibv_modify_qp", link.modify_qp, missing);
  resolve(library_, "ibv_destroy_qp", link.destroy_qp, missing);
  if (!missing.empty()) return no_function(name_, missing);
  return link;
}

Known<DeviceList> VerbsLibrary::get_device_list() const {
  int count = -1;
  errno = 0;
  abi::Device** list = verbs_.get_device_list(&count);
  if (list == nullptr) return failed("ibv_get_device_list", errno);
  if (count < 0 || count > max_devices) {
    verbs_.free_device_list(list);
    return Unknown{Reason::garbled, "ibv_get_device_list returned " + std::to_string(count) + " devices"};
  }
  DeviceList devices(*this, list, count);
  const bool ends = static_cast<int>(devices.devices().size()) == count && list[count] == nullptr;
  if (!ends) return Unknown{Reason::garbled, "the list of ibv_get_device_list is not as long as its count"};
  return devices;
}

Known<std::string> VerbsLibrary::get_device_name(abi::Device* device) const {
  const char* name = verbs_.get_device_name(device);
  if (name == nullptr) return failed("ibv_get_device_name", 0);
  const std::size_t length = strnlen(name, sizeof(abi::Device::name));
  if (length == sizeof(abi::Device::name)) return Unknown{Reason::garbled, "the name of a device does not end"};
  if (length == 0) return Unknown{Reason::garbled, "the name of a device is empty"};
  return std::string(name, length);
}

Guid VerbsLibrary::get_device_guid(abi::Device* device) const {
  const std::uint64_t big_endian = verbs_.get_device_guid(device);
  Guid guid;
  std::memcpy(guid.data(), &big_endian, guid.size());
  return guid;
}

std::optional<std::int32_t> VerbsLibrary::transport_type(const abi::Device* device) const {
  const bool is_known_layout = verbs_.get_device_name(const_cast<abi::Device*>(device)) == device->name;
  return is_known_layout ? std::optional(device->transport_type) : std::nullopt;
}

Known<OpenDevice> VerbsLibrary::open_device(abi::Device* device) const {
  errno = 0;
  abi::Context* context = verbs_.open_device(device);
  if (context == nullptr) return failed("ibv_open_device", errno);
  return OpenDevice(*this, context);
}

DeviceList::DeviceList(const VerbsLibrary& library, abi::Device** list, int count) : library_(library), list_(list) {
  for (int at = 0; at < count && list[at] != nullptr; ++at) devices_.push_back(list[at]);
}

DeviceList::DeviceList(DeviceList&& other) noexcept
    : library_(other.library_), list_(std::exchange(other.list_, nullptr)), devices_(std::move(other.devices_)) {}

DeviceList::~DeviceList() {
  if (list_ != nullptr) library_.verbs_.free_device_list(list_);
}

OpenDevice::OpenDevice(const VerbsLibrary& library, abi::Context* context) : library_(library), context_(context) {}

OpenDevice::OpenDevice(OpenDevice&& other) noexcept
    : library_(other.library_), context_(std::exchange(other.context_, nullptr)) {}

OpenDevice::~OpenDevice() {
  if (context_ != nullptr) library_.verbs_.close_device(context_);
}

Known<abi::DeviceAttributes> OpenDevice::query_device() const {
  Room<abi::DeviceAttributes> room;
  errno = 0;
  return answer_of("ibv_query_device", library_.verbs_.query_device(context_, room.pointer()), room);
}

Known<abi::PortAttributes> OpenDevice::query_port(std::uint8_t port) const {
  Room<abi::PortAttributes> room;
  errno = 0;
  return answer_of("ibv_query_port", library_.verbs_.query_port(context_, port, room.pointer()), room);
}

Known<abi::Gid> OpenDevice::query_gid(std::uint8_t port, int index) const {
  Room<abi::Gid> room;
  errno = 0;
  return answer_of("ibv_query_gid", library_.verbs_.query_gid(context_, port, index, room.pointer()), room);
}

Known<std::monostate> OpenDevice::close() {
  errno = 0;
  const int status = library_.verbs_.close_device(std::exchange(context_, nullptr));
  if (status != 0) return failed("ibv_close_device", status > 0 ? status : errno);
  return std::monostate{};
}

}  // namespace meshwright
