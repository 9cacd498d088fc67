/**
 * The verbs ABI as far as the probe reads it: 64-bit, as in rdma-core's libibverbs/verbs.h and its manual pages
 * ibv_get_device_list(3), ibv_query_device(3), ibv_query_port(3) and ibv_query_gid(3). Whether Apple's librdma.dylib has
 * the same layout is unconfirmed (docs/unverified.md). `layout_check.cc` has a second description, and
 * `answers_check.h` notices a different layout at run time. `ibv_context` stays opaque: the probe reads none of its
 * fields.
 */
#pragma once

#include <cstdint>

namespace meshwright::abi {

struct Context;  // struct ibv_context

/** The beginning of struct ibv_device. The paths after the name are not read. */
struct Device {
  void* ops[2];  // _ibv_device_ops: two functions of old libraries
  std::int32_t node_type;  // enum ibv_node_type
  std::int32_t transport_type;  // enum ibv_transport_type; `ibv_devinfo` of macOS prints Thunderbolt as 100
  char name[64];  // IBV_SYSFS_NAME_MAX
};

/** struct ibv_device_attr, complete: its last field is the best witness that the fields before it are in their place. */
struct DeviceAttributes {
  char fw_ver[64];  // ibv_query_device(3)
  unsigned char node_guid[8];  // __be64: network byte order
  unsigned char sys_image_guid[8];  // __be64
  std::uint64_t max_mr_size;  // ibv_query_device(3), as all below
  std::uint64_t page_size_cap;
  std::uint32_t vendor_id;
  std::uint32_t vendor_part_id;
  std::uint32_t hw_ver;
  std::int32_t max_qp;  // `max_qp` of ibv_devinfo -v
  std::int32_t max_qp_wr;
  std::uint32_t device_cap_flags;  // `int` in the manual page, `unsigned int` in verbs.h
  std::int32_t max_sge;
  std::int32_t max_sge_rd;
  std::int32_t max_cq;  // `max_cq` of ibv_devinfo -v
  std::int32_t max_cqe;
  std::int32_t max_mr;  // `max_mr` of ibv_devinfo -v
  std::int32_t max_pd;  // `max_pd` of ibv_devinfo -v
  std::int32_t max_qp_rd_atom;
  std::int32_t max_ee_rd_atom;
  std::int32_t max_res_rd_atom;
  std::int32_t max_qp_init_rd_atom;
  std::int32_t max_ee_init_rd_atom;
  std::int32_t atomic_cap;  // enum ibv_atomic_cap
  std::int32_t max_ee;
  std::int32_t max_rdd;
  std::int32_t max_mw;
  std::int32_t max_raw_ipv6_qp;
  std::int32_t max_raw_ethy_qp;
  std::int32_t max_mcast_grp;
  std::int32_t max_mcast_qp_attach;
  std::int32_t max_total_mcast_qp_attach;
  std::int32_t max_ah;
  std::int32_t max_fmr;
  std::int32_t max_map_per_fmr;
  std::int32_t max_srq;
  std::int32_t max_srq_wr;
  std::int32_t max_srq_sge;
  std::uint16_t max_pkeys;
  std::uint8_t local_ca_ack_delay;
  std::uint8_t phys_port_cnt;  // `phys_port_cnt` of ibv_devinfo
};

/**
 * struct ibv_port_attr up to `flags`. The exported function `ibv_query_port` of rdma-core writes only these 48 bytes
 * (_compat_ibv_port_attr in libibverbs/verbs.c); callers that include verbs.h get a macro with a longer struct.
 */
struct PortAttributes {
  std::uint32_t state;  // enum ibv_port_state, 0 to 5
  std::uint32_t max_mtu;  // enum ibv_mtu: 1 is 256 bytes, 5 is 4096
  std::uint32_t active_mtu;  // enum ibv_mtu
  std::int32_t gid_tbl_len;  // ibv_query_port(3), as all below; 1024 was seen on a Mac
  std::uint32_t port_cap_flags;
  std::uint32_t max_msg_sz;
  std::uint32_t bad_pkey_cntr;
  std::uint32_t qkey_viol_cntr;
  std::uint16_t pkey_tbl_len;
  std::uint16_t lid;
  std::uint16_t sm_lid;
  std::uint8_t lmc;
  std::uint8_t max_vl_num;
  std::uint8_t sm_sl;
  std::uint8_t subnet_timeout;
  std::uint8_t init_type_reply;
  std::uint8_t active_width;  // a flag: 1, 2, 4, 8, 16 for 1X, 4X, 8X, 12X, 2X
  std::uint8_t active_speed;  // a flag: 4 is 10 Gbit/s per lane
  std::uint8_t phys_state;
  std::uint8_t link_layer;  // IBV_LINK_LAYER_*; several public programs for Macs use 100 for Thunderbolt
  std::uint8_t flags;
};

/** union ibv_gid: the sixteen bytes of an IPv6 address. */
struct Gid {
  unsigned char raw[16];
};

}  // namespace meshwright::abi
