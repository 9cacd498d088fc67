#include "peer_lines.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace meshwright {
namespace {

constexpr std::size_t longest_line = 512;

}  // namespace

bool PeerLines::say(const std::string& line) {
  return std::fputs((line + "\n").c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

std::optional<std::string> PeerLines::hear() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (!is_ended_ && text_.find('\n') == std::string::npos && poll(&input, 1, 0) > 0) {
    char bytes[longest_line];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count > 0) text_.append(bytes, static_cast<std::size_t>(count));
    is_ended_ = count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
  }
  const std::size_t end = text_.find('\n');
  if (end == std::string::npos) {
    is_ended_ = is_ended_ || text_.size() > longest_line;
    return std::nullopt;
  }
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

}  // namespace meshwright
