#include "fnv.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace meshwright {
namespace {

constexpr std::uint64_t prime = 0x100000001b3;  // the published multiplier
constexpr std::size_t read_size = std::size_t{1} << 20;

Unknown failed() { return {Reason::failed, std::strerror(errno)}; }

Known<std::string> fnv_of_descriptor(int descriptor) {
  std::vector<unsigned char> buffer(read_size);
  Fnv1a64 hash;
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count == 0) return hash.hex();
    if (count > 0) {
      hash.add(buffer.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return failed();
    }
  }
}

}  // namespace

void Fnv1a64::add(const unsigned char* bytes, std::size_t count) {
  std::uint64_t hash = hash_;
  for (std::size_t at = 0; at < count; ++at) hash = (hash ^ bytes[at]) * prime;
  hash_ = hash;
}

std::string Fnv1a64::hex() const {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash_));
  return digits;
}

Known<std::string> fnv_of_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failed();
#ifdef F_NOCACHE
  fcntl(descriptor, F_NOCACHE, 1);  // without it the hash is the same, so a failure does not matter
#endif
  Known<std::string> hash = fnv_of_descriptor(descriptor);
  close(descriptor);
  return hash;
}

}  // namespace meshwright
