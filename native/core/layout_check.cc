/**
 * A second description of the layouts, as offsets and sizes in bytes, counted by hand along the manual pages of
 * rdma-core. It fails to compile if `verbs_abi.h` disagrees.
 */
#include <cstddef>

#include "verbs_abi.h"

namespace meshwright::abi {
namespace {

#define IS_AT(type, field, offset, size) \
  static_assert(offsetof(type, field) == (offset) && sizeof(type::field) == (size), #type "." #field)

// ibv_get_device_list(3) and verbs.h: two function pointers, two enumerations, and a name of at most 64 bytes.
IS_AT(Device, ops, 0, 16);
IS_AT(Device, node_type, 16, 4);
IS_AT(Device, transport_type, 20, 4);
IS_AT(Device, name, 24, 64);

// ibv_query_device(3): 64 characters, four 64-bit values, three 32-bit ones, 29 `int`, then 16, 8 and 8 bits.
IS_AT(DeviceAttributes, fw_ver, 0, 64);
IS_AT(DeviceAttributes, node_guid, 64, 8);
IS_AT(DeviceAttributes, sys_image_guid, 72, 8);
IS_AT(DeviceAttributes, max_mr_size, 80, 8);
IS_AT(DeviceAttributes, page_size_cap, 88, 8);
IS_AT(DeviceAttributes, vendor_id, 96, 4);
IS_AT(DeviceAttributes, max_qp, 108, 4);
IS_AT(DeviceAttributes, device_cap_flags, 116, 4);
IS_AT(DeviceAttributes, max_cq, 128, 4);
IS_AT(DeviceAttributes, max_mr, 136, 4);
IS_AT(DeviceAttributes, max_pd, 140, 4);
IS_AT(DeviceAttributes, atomic_cap, 164, 4);
IS_AT(DeviceAttributes, max_ah, 200, 4);
IS_AT(DeviceAttributes, max_srq_sge, 220, 4);
IS_AT(DeviceAttributes, max_pkeys, 224, 2);
IS_AT(DeviceAttributes, local_ca_ack_delay, 226, 1);
IS_AT(DeviceAttributes, phys_port_cnt, 227, 1);
static_assert(sizeof(DeviceAttributes) == 232, "padded to 64 bits");

// ibv_query_port(3): three enumerations, five 32-bit values, three 16-bit ones, then ten single bytes.
IS_AT(PortAttributes, state, 0, 4);
IS_AT(PortAttributes, max_mtu, 4, 4);
IS_AT(PortAttributes, active_mtu, 8, 4);
IS_AT(PortAttributes, gid_tbl_len, 12, 4);
IS_AT(PortAttributes, port_cap_flags, 16, 4);
IS_AT(PortAttributes, pkey_tbl_len, 32, 2);
IS_AT(PortAttributes, lmc, 38, 1);
IS_AT(PortAttributes, active_width, 43, 1);
IS_AT(PortAttributes, active_speed, 44, 1);
IS_AT(PortAttributes, phys_state, 45, 1);
IS_AT(PortAttributes, link_layer, 46, 1);
IS_AT(PortAttributes, flags, 47, 1);
static_assert(sizeof(PortAttributes) == 48, "as long as _compat_ibv_port_attr");

IS_AT(Gid, raw, 0, 16);

}  // namespace
}  // namespace meshwright::abi
