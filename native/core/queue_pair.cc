#include "queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "answers_check.h"
#include "probe.h"
#include "room.h"

namespace meshwright {
namespace {

constexpr std::uint8_t port = 1;  // every Thunderbolt device has one
constexpr int local_write = 1;    // IBV_ACCESS_LOCAL_WRITE
constexpr std::uint32_t unreliable_connection = 3;  // IBV_QPT_UC
constexpr std::uint32_t state_init = 1, state_receive = 2, state_send = 3;
constexpr std::uint32_t port_active = 4;  // IBV_PORT_ACTIVE
constexpr std::uint32_t opcode_send = 2, is_signaled = 2;
constexpr std::uint32_t received = 128;  // IBV_WC_RECV
constexpr std::size_t largest_page = 16384;  // of Apple silicon
constexpr std::uint64_t receive_mark = std::uint64_t{1} << 32;

/** The bits of enum ibv_qp_attr_mask. */
enum Mask {
  mask_state = 1 << 0,
  mask_access = 1 << 3,
  mask_pkey = 1 << 4,
  mask_port = 1 << 5,
  mask_address = 1 << 7,
  mask_mtu = 1 << 8,
  mask_receive_number = 1 << 12,
  mask_send_number = 1 << 16,
  mask_peer = 1 << 20,
};

}  // namespace

std::optional<Unknown> QueuePair::open(int gid_index) {
  const Known<LinkFunctions> functions = library_.link_functions();
  if (const Unknown* why = unknown_in(functions)) return *why;
  link_ = std::get<LinkFunctions>(functions);

  const Known<abi::PortAttributes> attributes = device_.query_port(port);
  if (const Unknown* why = unknown_in(attributes)) return *why;
  const auto& port_attributes = std::get<abi::PortAttributes>(attributes);
  if (const auto impossible = impossible_value(port_attributes)) return Unknown{Reason::garbled, *impossible};
  // Without this check, ibv_alloc_pd would fail without a useful reason (mlx pull request 4530).
  if (port_attributes.state != port_active) return Unknown{Reason::failed, "the port is not active"};
  const Known<abi::Gid> gid = device_.query_gid(port, gid_index);
  if (const Unknown* why = unknown_in(gid)) return *why;
  if (!is_ipv4_mapped(std::get<abi::Gid>(gid))) return Unknown{Reason::failed, "the GID is not IPv4-mapped"};
  gid_index_ = static_cast<std::uint8_t>(gid_index);

  errno = 0;
  domain_ = link_.alloc_pd(device_.context());
  if (domain_ == nullptr) return failed("ibv_alloc_pd", errno);
  // The driver of a Mac maps whole pages.
  constexpr std::size_t size = std::size_t{2} * depth * slot_bytes;
  memory_.reset(static_cast<unsigned char*>(std::aligned_alloc(largest_page, size)));
  if (memory_ == nullptr) return Unknown{Reason::failed, "no memory for messages"};
  std::memset(memory_.get(), 0, size);
  errno = 0;
  region_ = link_.reg_mr(domain_, memory_.get(), size, local_write);
  if (region_ == nullptr) return failed("ibv_reg_mr", errno);
  errno = 0;
  completions_ = link_.create_cq(device_.context(), 2 * depth, nullptr, nullptr, 0);
  if (completions_ == nullptr) return failed("ibv_create_cq", errno);
  abi::QueuePairInit init{};
  init.send_cq = init.recv_cq = completions_;
  init.cap = {depth, depth, 1, 1, 0};
  init.qp_type = unreliable_connection;
  errno = 0;
  pair_ = link_.create_qp(domain_, &init);
  if (pair_ == nullptr) return failed("ibv_create_qp", errno);

  constexpr std::uint32_t largest = (1U << 24) - 1;
  address_ = {pair_->qp_num, std::random_device{}() & largest, port_attributes.active_mtu, std::get<abi::Gid>(gid)};
  if (address_.qp_number > largest) return Unknown{Reason::garbled, "a queue pair number has more than 24 bits"};
  abi::QueuePairAttributes to_init{};
  to_init.qp_state = state_init;
  to_init.port_num = port;
  to_init.qp_access_flags = local_write;
  return modify(to_init, mask_state | mask_pkey | mask_port | mask_access, "ibv_modify_qp to INIT");
}

std::optional<Unknown> QueuePair::connect(const EndAddress& peer) {
  abi::QueuePairAttributes to_receive{};
  to_receive.qp_state = state_receive;
  to_receive.path_mtu = std::min(address_.mtu, peer.mtu);
  to_receive.rq_psn = peer.packet_number;
  to_receive.dest_qp_num = peer.qp_number;
  to_receive.ah_attr.dgid = peer.gid;
  to_receive.ah_attr.sgid_index = gid_index_;
  to_receive.ah_attr.hop_limit = 1;
  to_receive.ah_attr.is_global = 1;
  to_receive.ah_attr.port_num = port;
  const int mask = mask_state | mask_address | mask_mtu | mask_peer | mask_receive_number;
  if (auto failure = modify(to_receive, mask, "ibv_modify_qp to RTR")) return failure;
  for (std::uint32_t slot = 0; slot < depth; ++slot) {
    if (auto failure = post_receive(slot)) return failure;
  }
  abi::QueuePairAttributes to_send{};
  to_send.qp_state = state_send;
  to_send.sq_psn = address_.packet_number;
  return modify(to_send, mask_state | mask_send_number, "ibv_modify_qp to RTS");
}

std::optional<Unknown> QueuePair::modify(abi::QueuePairAttributes attributes, int mask, const char* call) {
  errno = 0;
  return failure_of(call, link_.modify_qp(pair_, &attributes, mask));
}

unsigned char* QueuePair::receive_slot(std::uint32_t slot) {
  return memory_.get() + std::size_t{slot % depth} * slot_bytes;
}

unsigned char* QueuePair::send_slot(std::uint32_t slot) {
  return memory_.get() + std::size_t{depth + slot % depth} * slot_bytes;
}

abi::ScatterEntry QueuePair::entry_of(unsigned char* slot, std::uint32_t bytes) const {
  return {reinterpret_cast<std::uint64_t>(slot), bytes, region_->lkey};
}

std::optional<Unknown> QueuePair::post_receive(std::uint32_t slot) {
  abi::ScatterEntry entry = entry_of(receive_slot(slot), slot_bytes);
  abi::ReceiveRequest request{receive_mark | slot, nullptr, &entry, 1};
  abi::ReceiveRequest* bad = nullptr;
  errno = 0;
  return failure_of("ibv_post_recv", device_.context()->post_recv(pair_, &request, &bad));
}

std::optional<Unknown> QueuePair::post_send(std::uint32_t slot, std::uint32_t bytes) {
  abi::ScatterEntry entry = entry_of(send_slot(slot), bytes);
  abi::SendRequest request{};
  request.wr_id = slot;
  request.sg_list = &entry;
  request.num_sge = 1;
  request.opcode = opcode_send;
  request.send_flags = is_signaled;
  abi::SendRequest* bad = nullptr;
  errno = 0;
  return failure_of("ibv_post_send", device_.context()->post_send(pair_, &request, &bad));
}

Known<std::optional<Finished>> QueuePair::poll() {
  Room<abi::Completion> room;
  errno = 0;
  const int count = device_.context()->poll_cq(completions_, 1, room.pointer());
  if (count == 0) return std::optional<Finished>{};
  if (count < 0) return *failure_of("ibv_poll_cq", count);
  const abi::Completion done = room.answer();
  if (done.status != 0) return Unknown{Reason::failed, "a work request failed with status " + std::to_string(done.status)};
  const bool is_receive = (done.wr_id & receive_mark) != 0;
  const auto slot = static_cast<std::uint32_t>(done.wr_id & ~receive_mark);
  const bool is_possible = (done.wr_id & ~receive_mark) < depth && is_receive == ((done.opcode & received) != 0) &&
                           (!is_receive || done.byte_len <= slot_bytes);
  if (!is_possible) return Unknown{Reason::garbled, "ibv_poll_cq returned a request that was not posted"};
  return std::optional<Finished>{{is_receive, slot, is_receive ? done.byte_len : 0}};
}

std::vector<Unknown> QueuePair::close() {
  std::vector<Unknown> left;
  const auto give_back = [&](const char* call, auto* function, auto*& object) {
    if (object == nullptr) return;
    errno = 0;
    if (auto failure = failure_of(call, function(std::exchange(object, nullptr)))) left.push_back(*failure);
  };
  give_back("ibv_destroy_qp", link_.destroy_qp, pair_);
  give_back("ibv_destroy_cq", link_.destroy_cq, completions_);
  give_back("ibv_dereg_mr", link_.dereg_mr, region_);
  give_back("ibv_dealloc_pd", link_.dealloc_pd, domain_);
  return left;
}

}  // namespace meshwright
