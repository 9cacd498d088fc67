/**
 * FNV-1a for 64 bits. llama.cpp's workers name a cached tensor by this hash of its bytes (`fnv_hash` in
 * ggml/src/ggml-rpc/ggml-rpc.cpp). Each byte depends on the one before, so one file cannot be hashed in parallel.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "known.h"

namespace meshwright {

class Fnv1a64 {
 public:
  void add(const unsigned char* bytes, std::size_t count);
  /** Sixteen hexadecimal digits. */
  [[nodiscard]] std::string hex() const;

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;  // the published start value
};

/** The hash of a file. It is read past the cache where macOS offers that, so that models in use stay in memory. */
Known<std::string> fnv_of_file(const std::string& path);

}  // namespace meshwright
