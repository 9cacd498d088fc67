/**
 * A second description of the layouts, as offsets and sizes in bytes, counted by hand along the manual pages of
 * rdma-core. It fails to compile if `verbs_abi.h` disagrees.
 */
#include <cstddef>

#include "verbs_abi.h"

namespace meshwright::abi {
namespace {

// NOLINTBEGIN(bugprone-sizeof-expression): some of the fields are pointers
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

// ibv_post_send(3): 64 bits, two pointers, four 32-bit values, then unions of 4 + 32, 4 (+ 4) and 48 bytes.
IS_AT(ScatterEntry, length, 8, 4);
IS_AT(ScatterEntry, lkey, 12, 4);
IS_AT(SendRequest, sg_list, 16, 8);
IS_AT(SendRequest, num_sge, 24, 4);
IS_AT(SendRequest, opcode, 28, 4);
IS_AT(SendRequest, send_flags, 32, 4);
IS_AT(SendRequest, imm_data, 36, 4);
static_assert(sizeof(SendRequest) == 128, "with its unions");
IS_AT(ReceiveRequest, sg_list, 16, 8);
IS_AT(ReceiveRequest, num_sge, 24, 4);
static_assert(sizeof(ReceiveRequest) == 32, "padded to 64 bits");

// ibv_poll_cq(3): 64 bits, eight 32-bit values, two of 16 and two of 8 bits.
IS_AT(Completion, status, 8, 4);
IS_AT(Completion, opcode, 12, 4);
IS_AT(Completion, byte_len, 20, 4);
IS_AT(Completion, qp_num, 28, 4);
IS_AT(Completion, dlid_path_bits, 45, 1);
static_assert(sizeof(Completion) == 48, "padded to 64 bits");

// verbs.h: after the device, poll_cq is the 12th function, post_send the 26th, post_recv the 27th.
IS_AT(Context, poll_cq, 8 + 11 * 8, 8);
IS_AT(Context, post_send, 8 + 25 * 8, 8);
IS_AT(Context, post_recv, 8 + 26 * 8, 8);

// ibv_create_qp(3): four pointers, five limits, two 32-bit values; in the queue pair, six pointers and a handle first.
IS_AT(QueuePair, qp_num, 52, 4);
IS_AT(QueuePairInit, recv_cq, 16, 8);
IS_AT(QueuePairInit, cap, 32, 20);
IS_AT(QueuePairInit, qp_type, 52, 4);
IS_AT(QueuePairInit, sq_sig_all, 56, 4);

// ibv_reg_mr(3): three pointers, a size, a handle.
IS_AT(MemoryRegion, length, 24, 8);
IS_AT(MemoryRegion, lkey, 36, 4);

// ibv_create_ah(3): the route has 16 + 4 + 3 bytes, padded to 24.
IS_AT(AddressVector, flow_label, 16, 4);
IS_AT(AddressVector, sgid_index, 20, 1);
IS_AT(AddressVector, hop_limit, 21, 1);
IS_AT(AddressVector, dlid, 24, 2);
IS_AT(AddressVector, is_global, 29, 1);
IS_AT(AddressVector, port_num, 30, 1);
static_assert(sizeof(AddressVector) == 32, "padded to 64 bits");

// ibv_modify_qp(3): nine 32-bit values, five limits, two addresses, two values of 16 bits, eleven of 8, one of 32.
IS_AT(QueuePairAttributes, path_mtu, 8, 4);
IS_AT(QueuePairAttributes, rq_psn, 20, 4);
IS_AT(QueuePairAttributes, dest_qp_num, 28, 4);
IS_AT(QueuePairAttributes, qp_access_flags, 32, 4);
IS_AT(QueuePairAttributes, ah_attr, 56, 32);
IS_AT(QueuePairAttributes, pkey_index, 120, 2);
IS_AT(QueuePairAttributes, port_num, 129, 1);
IS_AT(QueuePairAttributes, rate_limit, 136, 4);
static_assert(sizeof(QueuePairAttributes) == 144, "padded to 64 bits");
// NOLINTEND(bugprone-sizeof-expression)

}  // namespace
}  // namespace meshwright::abi
