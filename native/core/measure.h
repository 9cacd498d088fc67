/** The link test: latency and bandwidth of one cable, between the queue pairs of its two ends. */
#pragma once

#include <string>

namespace meshwright {

struct MeasureOptions {
  std::string device;
  int gid_index;
  /** One end leads: it measures the latency, and sends first. */
  bool leads;
  /** How long the latency and each direction are measured. */
  double seconds;
};

/**
 * Measures with the program at the other end, whose lines are this program's standard input. Prints lines itself, for
 * the other end and for the caller:
 *
 *     hello 1 QUEUE-PAIR PACKET-NUMBER MTU GID
 *     ready
 *     latency COUNT LOST MEDIAN P99 MAX    nanoseconds of one way, from the leading end
 *     listening                            before this end receives a stream
 *     sent MESSAGES STALLS                 from the end that sends
 *     received MESSAGES BYTES NS WRONG     from the end that receives
 *     done                                 this end does not need the other one any more
 *     left CALL...                         for each object that could not be given back
 *     failed REASON...                     instead of the rest
 *
 * Gives everything back on every way out, also after SIGTERM, after the end of the input, and at its deadline. Returns
 * true if everything was measured and given back.
 */
bool measure(const MeasureOptions& options);

}  // namespace meshwright
