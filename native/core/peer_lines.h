/** Lines to and from the other end of a link: standard output and input, which the caller connects to each other. */
#pragma once

#include <optional>
#include <string>

namespace meshwright {

class PeerLines {
 public:
  /** Prints a line; false if nobody reads it. */
  static bool say(const std::string& line);
  /** The next whole line from the other end; nothing if there is none yet. Never waits. */
  std::optional<std::string> hear();
  /** True after the end of the input, or a line that is too long. */
  [[nodiscard]] bool is_ended() const { return is_ended_; }

 private:
  std::string text_;
  bool is_ended_ = false;
};

}  // namespace meshwright
