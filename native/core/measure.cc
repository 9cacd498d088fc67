#include "measure.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "peer_lines.h"
#include "queue_pair.h"
#include "verbs_library.h"

namespace meshwright {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

/** A message that takes longer is lost: an unreliable connection repeats nothing. */
constexpr auto patience = std::chrono::milliseconds(100);
/** For the steps between the measurements, which the caller relays over SSH. */
constexpr auto between = std::chrono::seconds(15);
/** After so many lost messages in a row, the cable carries nothing. */
constexpr int most_lost = 10;
constexpr std::size_t most_samples = 200'000;
/** The receiver reports every so many messages how far it is. As many slots stay free for these reports. */
constexpr std::uint64_t report_every = 8;
constexpr std::uint64_t window = QueuePair::depth - report_every;

enum class Kind : std::uint32_t { ping = 1, pong, data, report };

/** The beginning of every message. A data message continues with a pattern, and ends with its number. */
struct Header {
  Kind kind;
  std::uint32_t part;  // counts the measurements, so that a late message of an earlier one is recognized
  std::uint64_t number;
};

struct Message {
  Header header;
  std::uint32_t bytes;
  bool is_intact;
};

volatile std::sig_atomic_t caught = 0;
void catch_signal(int number) { caught = number; }

/** One end of the measurement. The first fault ends every loop. */
class End {
 public:
  End(QueuePair& pair, const MeasureOptions& options)
      : pair_(pair),
        length_(std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(options.seconds))),
        deadline_(Clock::now() + 3 * length_ + between),
        pattern_(QueuePair::slot_bytes) {
    for (std::size_t at = 0; at < pattern_.size(); ++at) pattern_[at] = static_cast<unsigned char>(at * 7 + at / 256);
  }

  bool connect() {
    for (std::uint32_t slot = 0; slot < QueuePair::depth; ++slot) {
      std::copy(pattern_.begin(), pattern_.end(), pair_.send_slot(slot));
    }
    const EndAddress& own = pair_.address();
    char gid[33];
    for (int at = 0; at < 16; ++at) std::snprintf(gid + 2 * at, 3, "%02x", static_cast<unsigned>(own.gid.raw[at]));
    say("hello 1 " + std::to_string(own.qp_number) + " " + std::to_string(own.packet_number) + " " +
        std::to_string(own.mtu) + " " + gid);
    const std::string line = await("hello");
    EndAddress peer{};
    int end = 0;
    const int found = std::sscanf(line.c_str(), "hello 1 %8u %8u %1u %n", &peer.qp_number, &peer.packet_number,
                                  &peer.mtu, &end);
    const auto gid_at = static_cast<std::size_t>(end);
    const bool is_right = found == 3 && line.size() == gid_at + 32 && peer.qp_number < 1U << 24 &&
                          peer.packet_number < 1U << 24 && peer.mtu >= 1 && peer.mtu <= 5 &&
                          line.find_first_not_of("0123456789abcdef", gid_at) == std::string::npos;
    for (std::size_t at = 0; is_right && at < 16; ++at) {
      peer.gid.raw[at] = static_cast<unsigned char>(std::stoul(line.substr(gid_at + 2 * at, 2), nullptr, 16));
    }
    if (!is_right) fail("the other end sent a wrong address");
    if (is_over()) return false;
    if (const auto failure = pair_.connect(peer)) fail(failure->detail);
    say("ready");
    await("ready");
    return !is_over();
  }

  /** Sends messages one by one, and waits for each answer. */
  void measure_latency() {
    begin_part();
    std::vector<std::int64_t> samples;
    std::uint64_t lost = 0;
    int lost_in_a_row = 0;
    const auto end = Clock::now() + length_;
    const auto has_time = [&] { return samples.empty() || (Clock::now() < end && samples.size() < most_samples); };
    for (std::uint64_t number = 0; !is_over() && has_time(); ++number) {
      const auto sent_at = Clock::now();
      send(Kind::ping, number, sizeof(Header));
      const bool is_answered = await_message(Kind::pong, number, sent_at + patience);
      const auto time = Clock::now() - sent_at;
      lost_in_a_row = is_answered ? 0 : lost_in_a_row + 1;
      if (!is_answered) ++lost;
      if (is_answered) samples.push_back(nanoseconds(time).count() / 2);
      if (lost_in_a_row >= most_lost) fail("no message arrived");
    }
    if (is_over()) return;
    // The first tenth warms up the caches.
    samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 10));
    std::sort(samples.begin(), samples.end());
    say("latency " + std::to_string(samples.size()) + " " + std::to_string(lost) + " " +
        std::to_string(samples[samples.size() / 2]) + " " + std::to_string(samples[samples.size() * 99 / 100]) + " " +
        std::to_string(samples.back()));
  }

  /** Answers until the other end has its latency. */
  void answer() {
    begin_part();
    while (!is_over() && !has_heard("latency")) {
      const auto message = receive();
      if (message && message->header.kind == Kind::ping) send(Kind::pong, message->header.number, sizeof(Header));
    }
  }

  /** Sends as fast as the other end reports that it receives. */
  void send_stream() {
    begin_part();
    await("listening");
    std::uint64_t next = 0, reported = 0, stalls = 0;
    auto moved_at = Clock::now();
    const auto end = moved_at + length_;
    for (auto now = moved_at; !is_over() && now < end; now = Clock::now()) {
      if (next - reported < window) send(Kind::data, next++, QueuePair::slot_bytes);
      const auto message = receive();
      if (message && message->header.kind == Kind::report && message->header.number > reported) {
        reported = std::min(next, message->header.number);
        moved_at = now;
        stalls_in_a_row_ = 0;
      } else if (next - reported >= window && now - moved_at > patience) {
        // The window was lost, or the reports about it.
        reported = next;
        moved_at = now;
        ++stalls;
        if (++stalls_in_a_row_ >= most_lost) fail("no message arrived");
      }
    }
    if (is_over()) return;
    say("sent " + std::to_string(next) + " " + std::to_string(stalls));
    await("received");
  }

  void receive_stream() {
    begin_part();
    say("listening");
    std::uint64_t messages = 0, bytes = 0, wrong = 0, reported = 0;
    auto first_at = Clock::now(), last_at = first_at;
    // After the last message was sent, the last ones may still be on their way.
    std::optional<Clock::time_point> end;
    while (!is_over()) {
      if (!end && has_heard("sent")) end = Clock::now() + patience;
      const auto message = receive();
      // Only a poll without a message ends the stream, because this program may have been stopped for a while.
      if (!message && end && Clock::now() > *end) break;
      if (!message || message->header.kind != Kind::data) continue;
      last_at = Clock::now();
      if (messages == 0) first_at = last_at;
      // The time begins with the first message, so its bytes do not count.
      if (messages++ > 0) bytes += message->bytes;
      if (!message->is_intact) ++wrong;
      const std::uint64_t so_far = message->header.number + 1;
      if (so_far < reported + report_every) continue;
      reported = so_far;
      send(Kind::report, so_far, sizeof(Header));
    }
    if (is_over()) return;
    say("received " + std::to_string(messages) + " " + std::to_string(bytes) + " " +
        std::to_string(nanoseconds(last_at - first_at).count()) + " " + std::to_string(wrong));
  }

  /** Why the measurement ended early; empty if it did not. */
  [[nodiscard]] const std::string& fault() const { return fault_; }

  /** Until then, the other end may need this one. */
  void await_done() {
    say("done");
    await("done");
  }

 private:
  void fail(const std::string& why) {
    if (fault_.empty()) fault_ = why;
  }

  bool is_over() {
    if (caught != 0) fail("signal " + std::to_string(caught));
    if (Clock::now() > deadline_) fail("the time for the measurement is over");
    return !fault_.empty();
  }

  void say(const std::string& line) {
    if (fault_.empty() && !PeerLines::say(line)) fail("the output is closed");
  }

  /** True once a line begins with this word; another word is a fault. */
  bool has_heard(const std::string& word) {
    // The input is asked once in a while, because each time costs microseconds.
    const auto now = Clock::now();
    if (now - heard_at_ < std::chrono::milliseconds(1)) return false;
    heard_at_ = now;
    const auto line = lines_.hear();
    if (!line) {
      if (lines_.is_ended()) fail("the other end is gone");
      return false;
    }
    heard_ = *line;
    const std::string first = line->substr(0, line->find(' '));
    if (first != word) fail(first == "failed" ? "the other end failed" : "the other end sent an unexpected line");
    return first == word;
  }

  std::string await(const std::string& word) {
    while (!is_over()) {
      if (has_heard(word)) return heard_;
      receive_if_connected();
    }
    return "";
  }

  void receive_if_connected() {
    if (part_ > 0) receive();
  }

  void begin_part() { ++part_; }

  void send(Kind kind, std::uint64_t number, std::uint32_t bytes) {
    // Finished sends free their slots in the order in which they were posted.
    while (posted_ - sent_ >= QueuePair::depth && !is_over()) step();
    if (is_over()) return;
    const auto slot = static_cast<std::uint32_t>(posted_++ % QueuePair::depth);
    unsigned char* memory = pair_.send_slot(slot);
    const Header header{kind, part_, number};
    std::memcpy(memory, &header, sizeof header);
    if (bytes > sizeof header) std::memcpy(memory + bytes - sizeof number, &number, sizeof number);
    if (const auto failure = pair_.post_send(slot, bytes)) fail(failure->detail);
  }

  /** Polls once, and keeps a received message for `receive`. */
  void step() {
    if (const auto message = poll_message()) waiting_.push_back(*message);
  }

  /** The next message of this measurement; nothing if there is none yet. */
  std::optional<Message> receive() {
    std::optional<Message> message;
    if (waiting_.empty()) {
      message = poll_message();
    } else {
      message = waiting_.front();
      waiting_.erase(waiting_.begin());
    }
    return message && message->header.part == part_ ? message : std::nullopt;
  }

  std::optional<Message> poll_message() {
    const auto polled = pair_.poll();
    if (const Unknown* why = unknown_in(polled)) {
      fail(why->detail);
      return std::nullopt;
    }
    const auto& finished = std::get<std::optional<Finished>>(polled);
    if (!finished) return std::nullopt;
    if (!finished->is_receive) {
      ++sent_;
      return std::nullopt;
    }
    const unsigned char* memory = pair_.receive_slot(finished->slot);
    Message message{{}, finished->bytes, is_intact(memory, finished->bytes)};
    if (finished->bytes >= sizeof(Header)) std::memcpy(&message.header, memory, sizeof(Header));
    if (const auto failure = pair_.post_receive(finished->slot)) fail(failure->detail);
    return message;
  }

  /** True for a data message whose bytes arrived as they were sent. */
  [[nodiscard]] bool is_intact(const unsigned char* memory, std::uint32_t bytes) const {
    constexpr std::size_t number_at = offsetof(Header, number), end = QueuePair::slot_bytes - sizeof(std::uint64_t);
    return bytes == QueuePair::slot_bytes &&
           std::memcmp(memory + sizeof(Header), pattern_.data() + sizeof(Header), end - sizeof(Header)) == 0 &&
           std::memcmp(memory + end, memory + number_at, sizeof(std::uint64_t)) == 0;
  }

  bool await_message(Kind kind, std::uint64_t number, Clock::time_point until) {
    while (!is_over() && Clock::now() < until) {
      const auto message = receive();
      if (message && message->header.kind == kind && message->header.number == number) return true;
    }
    return false;
  }

  QueuePair& pair_;
  PeerLines lines_;
  const nanoseconds length_;
  const Clock::time_point deadline_;
  std::string fault_;
  std::string heard_;
  Clock::time_point heard_at_{};
  std::uint32_t part_ = 0;
  std::uint64_t posted_ = 0, sent_ = 0;
  int stalls_in_a_row_ = 0;
  std::vector<Message> waiting_;
  std::vector<unsigned char> pattern_;
};

/** Measures with what is open. Returns the fault, or an empty text. */
std::string measure_between(QueuePair& pair, const MeasureOptions& options) {
  End end(pair, options);
  if (end.connect()) {
    if (options.leads) {
      end.measure_latency();
      end.send_stream();
      end.receive_stream();
    } else {
      end.answer();
      end.receive_stream();
      end.send_stream();
    }
    end.await_done();
  }
  return end.fault();
}

std::string measure_on(const VerbsLibrary& verbs, OpenDevice& device, const MeasureOptions& options, bool& is_clean) {
  QueuePair pair(verbs, device);
  const auto failure = pair.open(options.gid_index);
  const std::string fault = failure ? failure->detail : measure_between(pair, options);
  std::vector<Unknown> left = pair.close();
  const Known<std::monostate> closed = device.close();
  if (const Unknown* why = unknown_in(closed)) left.push_back(*why);
  for (const Unknown& why : left) PeerLines::say("left " + why.detail);
  is_clean = left.empty();
  return fault;
}

std::string measure_with(const VerbsLibrary& verbs, const MeasureOptions& options, bool& is_clean) {
  const Known<DeviceList> list = verbs.get_device_list();
  if (const Unknown* why = unknown_in(list)) return why->detail;
  for (abi::Device* device : std::get<DeviceList>(list).devices()) {
    const Known<std::string> name = verbs.get_device_name(device);
    if (unknown_in(name) || std::get<std::string>(name) != options.device) continue;
    Known<OpenDevice> open = verbs.open_device(device);
    if (const Unknown* why = unknown_in(open)) return why->detail;
    return measure_on(verbs, std::get<OpenDevice>(open), options, is_clean);
  }
  return "there is no device with this name";
}

}  // namespace

bool measure(const MeasureOptions& options) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) std::signal(number, catch_signal);
  std::signal(SIGPIPE, SIG_IGN);
  const Known<VerbsLibrary> library = VerbsLibrary::load();
  bool is_clean = true;
  const Unknown* absent = unknown_in(library);
  const std::string fault =
      absent != nullptr ? absent->detail : measure_with(std::get<VerbsLibrary>(library), options, is_clean);
  if (!fault.empty()) PeerLines::say("failed " + fault);
  return fault.empty() && is_clean;
}

}  // namespace meshwright
