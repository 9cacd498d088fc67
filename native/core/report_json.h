/**
 * A probe's report as one JSON document on one line. Names and shapes follow the facts `rdma-devices` and `rdma-ports`
 * where they have the same value: `device`, `guid`, `state`, `gids`, `maxQueuePairs`, `maxProtectionDomains`.
 */
#pragma once

#include <string>
#include <string_view>

#include "probe.h"

namespace meshwright {

std::string report_json(const ProbeReport& report);

/** A JSON string. Each byte outside printable ASCII becomes `\u00XX`, so the document is valid whatever the bytes are. */
std::string json_string(std::string_view bytes);

}  // namespace meshwright
