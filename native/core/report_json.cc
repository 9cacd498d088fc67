#include "report_json.h"

#include <arpa/inet.h>

#include <cstdio>

namespace meshwright {
namespace {

std::string json_number(std::int64_t value) { return std::to_string(value); }

/** Builds an object; the values are already JSON. */
class JsonObject {
 public:
  JsonObject& add(std::string_view key, const std::string& value) {
    members_ += (members_.empty() ? "" : ",") + json_string(key) + ":" + value;
    return *this;
  }
  JsonObject& add(const Unknown& why) {
    static constexpr const char* words[] = {"no-library", "no-symbol", "failed", "garbled"};
    return add("unknown", json_string(words[static_cast<int>(why.reason)])).add("detail", json_string(why.detail));
  }
  [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

template <typename Item, typename ToJson>
std::string json_list(const std::vector<Item>& items, ToJson to_json) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "" : ",") + to_json(item);
  return "[" + text + "]";
}

std::string json_guid(const unsigned char* bytes) {
  std::string text;
  for (int at = 0; at < 8; ++at) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(bytes[at]));
    text += digits;
  }
  return json_string(text);
}

std::string json_address(int family, const unsigned char* bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(family, bytes, text, sizeof text);
  return json_string(text);
}

std::string json_gid(const GidEntry& entry) {
  JsonObject object;
  object.add("index", json_number(entry.index)).add("gid", json_address(AF_INET6, entry.gid.raw));
  if (is_ipv4_mapped(entry.gid)) object.add("ipv4", json_address(AF_INET, entry.gid.raw + 12));
  return object.text();
}

const char* state_word(std::uint32_t state) {
  if (state == 4) return "active";  // IBV_PORT_ACTIVE
  if (state == 1) return "down";    // IBV_PORT_DOWN
  return "other";
}

std::string json_bytes_of_mtu(std::uint32_t mtu) { return json_number(std::int64_t{128} << mtu); }

std::string json_port(const Port& port) {
  const abi::PortAttributes& attributes = port.attributes;
  JsonObject object;
  object.add("port", json_number(port.number))
      .add("state", json_string(state_word(attributes.state)))
      .add("stateCode", json_number(attributes.state))
      .add("maxMtuBytes", json_bytes_of_mtu(attributes.max_mtu))
      .add("activeMtuBytes", json_bytes_of_mtu(attributes.active_mtu))
      .add("linkLayerCode", json_number(attributes.link_layer))
      .add("activeWidthCode", json_number(attributes.active_width))
      .add("activeSpeedCode", json_number(attributes.active_speed))
      .add("gidTableLength", json_number(attributes.gid_tbl_len))
      .add("gids", json_list(port.gids, json_gid));
  for (const GidEntry& entry : port.gids) {
    if (!is_ipv4_mapped(entry.gid)) continue;
    object.add("mappedGidIndex", json_number(entry.index));
    break;
  }
  return object.text();
}

std::string json_device(const DeviceReport& report) {
  JsonObject object;
  const Unknown* nameless = unknown_in(report.name);
  if (nameless == nullptr) object.add("device", json_string(std::get<std::string>(report.name)));
  object.add("guid", json_guid(report.guid.data()));
  if (report.transport_type) object.add("transportCode", json_number(*report.transport_type));
  if (nameless != nullptr) return object.add(*nameless).text();
  if (const Unknown* why = unknown_in(report.opened)) return object.add(*why).text();
  const auto& [attributes, ports] = std::get<OpenedDevice>(report.opened);
  return object.add("nodeGuid", json_guid(attributes.node_guid))
      .add("maxQueuePairs", json_number(attributes.max_qp))
      .add("maxCompletionQueues", json_number(attributes.max_cq))
      .add("maxProtectionDomains", json_number(attributes.max_pd))
      .add("maxMemoryRegions", json_number(attributes.max_mr))
      .add("ports", json_list(ports, json_port))
      .text();
}

}  // namespace

std::string json_string(std::string_view bytes) {
  std::string text = "\"";
  for (const char character : bytes) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte == '"' || byte == '\\') {
      text += '\\';
      text += character;
    } else if (byte >= 0x20 && byte < 0x7f) {
      text += character;
    } else {
      char escape[7];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
      text += escape;
    }
  }
  return text + '"';
}

std::string report_json(const ProbeReport& report) {
  JsonObject object;
  if (!report.library.empty()) object.add("library", json_string(report.library));
  if (const Unknown* why = unknown_in(report.devices)) return object.add(*why).text();
  return object.add("value", json_list(std::get<std::vector<DeviceReport>>(report.devices), json_device)).text();
}

}  // namespace meshwright
