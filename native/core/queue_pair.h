/** One end of a link: an unreliable-connection queue pair with its own memory, and every verbs call that it needs. */
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "verbs_library.h"

namespace meshwright {

/** What the other end must know to connect. */
struct EndAddress {
  std::uint32_t qp_number;
  std::uint32_t packet_number;  // the first one, 24 bits
  std::uint32_t mtu;            // enum ibv_mtu
  abi::Gid gid;
};

/** A finished work request. */
struct Finished {
  bool is_receive;
  std::uint32_t slot;
  std::uint32_t bytes;  // of a received message
};

/**
 * A queue pair of a device, whose memory has equal slots: `depth` for messages to receive, then `depth` to send. Its
 * destructor gives everything back; `close` also reports what could not be given back.
 */
class QueuePair {
 public:
  static constexpr std::uint32_t depth = 32;  // as many requests as mlx posts on a Mac (jaccl/rdma.h)
  static constexpr std::uint32_t slot_bytes = 65536;

  QueuePair(const VerbsLibrary& library, const OpenDevice& device) : library_(library), device_(device) {}
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;
  ~QueuePair() { close(); }

  /** Gets everything from the driver, and reaches the state INIT. Each step can fail; what was got before stays. */
  [[nodiscard]] std::optional<Unknown> open(int gid_index);
  /** Reaches the states RTR and RTS, with all receive slots posted between them. */
  [[nodiscard]] std::optional<Unknown> connect(const EndAddress& peer);
  [[nodiscard]] const EndAddress& address() const { return address_; }
  [[nodiscard]] unsigned char* receive_slot(std::uint32_t slot);
  [[nodiscard]] unsigned char* send_slot(std::uint32_t slot);
  [[nodiscard]] std::optional<Unknown> post_receive(std::uint32_t slot);
  [[nodiscard]] std::optional<Unknown> post_send(std::uint32_t slot, std::uint32_t bytes);
  /** The next finished request; nothing if there is none yet. */
  [[nodiscard]] Known<std::optional<Finished>> poll();
  /** The calls that failed. What they should have given back may stay in the kernel until the Mac restarts. */
  std::vector<Unknown> close();

 private:
  [[nodiscard]] std::optional<Unknown> modify(abi::QueuePairAttributes attributes, int mask, const char* state);
  [[nodiscard]] abi::ScatterEntry entry_of(unsigned char* slot, std::uint32_t bytes) const;

  const VerbsLibrary& library_;
  const OpenDevice& device_;
  LinkFunctions link_{};
  std::uint8_t gid_index_ = 0;
  EndAddress address_{};
  std::unique_ptr<unsigned char, void (*)(void*)> memory_{nullptr, std::free};
  abi::ProtectionDomain* domain_ = nullptr;
  abi::MemoryRegion* region_ = nullptr;
  abi::CompletionQueue* completions_ = nullptr;
  abi::QueuePair* pair_ = nullptr;
};

}  // namespace meshwright
