/**
 * The verbs ABI as far as the core uses it: 64-bit, as in rdma-core's libibverbs/verbs.h and its manual pages, of which
 * each struct names its own. Whether Apple's librdma.dylib has the same layout is unconfirmed (docs/unverified.md);
 * mlx uses the same structs there, from the header of Apple's SDK (jaccl/rdma.cpp). `layout_check.cc` has a second
 * description, and `answers_check.h` notices a different layout at run time.
 */
#pragma once

#include <cstdint>

namespace meshwright::abi {

struct Context;
struct CompletionQueue;   // struct ibv_cq, opaque
struct ProtectionDomain;  // struct ibv_pd, opaque

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

/** struct ibv_sge, ibv_post_send(3): a piece of a registered memory region. */
struct ScatterEntry {
  std::uint64_t addr;
  std::uint32_t length;
  std::uint32_t lkey;
};

/** struct ibv_send_wr, ibv_post_send(3). What follows `imm_data` is for operations other than a plain send. */
struct SendRequest {
  std::uint64_t wr_id;
  SendRequest* next;
  ScatterEntry* sg_list;
  std::int32_t num_sge;
  std::uint32_t opcode;      // IBV_WR_SEND is 2
  std::uint32_t send_flags;  // IBV_SEND_SIGNALED is 2
  std::uint32_t imm_data;
  unsigned char other[88];
};

/** struct ibv_recv_wr, ibv_post_recv(3). */
struct ReceiveRequest {
  std::uint64_t wr_id;
  ReceiveRequest* next;
  ScatterEntry* sg_list;
  std::int32_t num_sge;
};

/** struct ibv_wc, ibv_poll_cq(3). */
struct Completion {
  std::uint64_t wr_id;
  std::uint32_t status;  // IBV_WC_SUCCESS is 0
  std::uint32_t opcode;  // IBV_WC_SEND is 0, IBV_WC_RECV is 128
  std::uint32_t vendor_err;
  std::uint32_t byte_len;
  std::uint32_t imm_data;
  std::uint32_t qp_num;
  std::uint32_t src_qp;
  std::uint32_t wc_flags;
  std::uint16_t pkey_index;
  std::uint16_t slid;
  std::uint8_t sl;
  std::uint8_t dlid_path_bits;
};

/** The beginning of struct ibv_qp, ibv_create_qp(3). */
struct QueuePair {
  Context* context;
  void* qp_context;
  ProtectionDomain* pd;
  CompletionQueue* send_cq;
  CompletionQueue* recv_cq;
  void* srq;
  std::uint32_t handle;
  std::uint32_t qp_num;
};

/** The beginning of struct ibv_context. The three functions are not exported by the library; verbs.h calls them here. */
struct Context {
  Device* device;
  void* before_poll_cq[11];
  int (*poll_cq)(CompletionQueue* queue, int count, Completion* completions);
  void* before_post_send[13];
  int (*post_send)(QueuePair* pair, SendRequest* request, SendRequest** bad);
  int (*post_recv)(QueuePair* pair, ReceiveRequest* request, ReceiveRequest** bad);
};

/** struct ibv_mr, ibv_reg_mr(3). */
struct MemoryRegion {
  Context* context;
  ProtectionDomain* pd;
  void* addr;
  std::uint64_t length;
  std::uint32_t handle;
  std::uint32_t lkey;
  std::uint32_t rkey;
};

/** struct ibv_qp_cap, ibv_create_qp(3). */
struct QueuePairLimits {
  std::uint32_t max_send_wr;
  std::uint32_t max_recv_wr;
  std::uint32_t max_send_sge;
  std::uint32_t max_recv_sge;
  std::uint32_t max_inline_data;
};

/** struct ibv_qp_init_attr, ibv_create_qp(3). */
struct QueuePairInit {
  void* qp_context;
  CompletionQueue* send_cq;
  CompletionQueue* recv_cq;
  void* srq;
  QueuePairLimits cap;
  std::uint32_t qp_type;  // IBV_QPT_UC is 3; Thunderbolt has no other connected type (errno 102 for RC)
  std::int32_t sq_sig_all;
};

/** struct ibv_ah_attr with its struct ibv_global_route, ibv_create_ah(3). */
struct AddressVector {
  alignas(8) Gid dgid;
  std::uint32_t flow_label;
  std::uint8_t sgid_index;
  std::uint8_t hop_limit;
  std::uint8_t traffic_class;
  alignas(8) std::uint16_t dlid;
  std::uint8_t sl;
  std::uint8_t src_path_bits;
  std::uint8_t static_rate;
  std::uint8_t is_global;
  std::uint8_t port_num;
};

/** struct ibv_qp_attr, ibv_modify_qp(3). */
struct QueuePairAttributes {
  std::uint32_t qp_state;  // enum ibv_qp_state: INIT is 1, RTR is 2, RTS is 3
  std::uint32_t cur_qp_state;
  std::uint32_t path_mtu;  // enum ibv_mtu
  std::uint32_t path_mig_state;
  std::uint32_t qkey;
  std::uint32_t rq_psn;
  std::uint32_t sq_psn;
  std::uint32_t dest_qp_num;
  std::uint32_t qp_access_flags;  // IBV_ACCESS_LOCAL_WRITE is 1
  QueuePairLimits cap;
  AddressVector ah_attr;
  AddressVector alt_ah_attr;
  std::uint16_t pkey_index;
  std::uint16_t alt_pkey_index;
  std::uint8_t en_sqd_async_notify;
  std::uint8_t sq_draining;
  std::uint8_t max_rd_atomic;
  std::uint8_t max_dest_rd_atomic;
  std::uint8_t min_rnr_timer;
  std::uint8_t port_num;
  std::uint8_t timeout;
  std::uint8_t retry_cnt;
  std::uint8_t rnr_retry;
  std::uint8_t alt_port_num;
  std::uint8_t alt_timeout;
  std::uint32_t rate_limit;
};

}  // namespace meshwright::abi
