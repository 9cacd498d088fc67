/** Probes the library in MESHWRIGHT_VERBS_LIBRARY for so many seconds, and prints some of the reports and their number. */
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "../core/probe.h"
#include "../core/report_json.h"

int main(int count, char** arguments) {
  const double seconds = count == 2 ? std::atof(arguments[1]) : 1;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  long rounds = 0;
  for (; std::chrono::steady_clock::now() < end; ++rounds) {
    const std::string report = meshwright::report_json(meshwright::probe());
    if (rounds % 64 == 0) std::printf("%s\n", report.c_str());
  }
  std::printf("%ld\n", rounds);
}
