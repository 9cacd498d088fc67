/** The probe as a program, for nodes without Node.js: prints what the verbs library reports, as one line of JSON. */
#include <cstdio>
#include <string>

#include "core/probe.h"
#include "core/report_json.h"

namespace {

constexpr int exit_usage = 64;   // EX_USAGE of sysexits.h
constexpr int exit_output = 74;  // EX_IOERR

constexpr const char* usage =
    "Usage: meshwright-probe [--help | --version]\n"
    "Prints the RDMA devices of this computer as one line of JSON, read from the verbs library.\n"
    "Opens no protection domain and no queue pair.\n"
    "Exit codes: 0 if the line was printed, also if something in it is unknown; 64 for an unknown argument;\n"
    "74 if the output could not be written.\n";

int print(const std::string& text) {
  const bool is_written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return is_written ? 0 : exit_output;
}

}  // namespace

int main(int count, char** arguments) {
  if (count <= 1) return print(meshwright::report_json(meshwright::probe()) + "\n");
  const std::string argument = arguments[1];
  if (count == 2 && argument == "--help") return print(usage);
  if (count == 2 && argument == "--version") return print("meshwright-probe " MESHWRIGHT_VERSION "\n");
  std::fprintf(stderr, "Unknown arguments.\n%s", usage);
  return exit_usage;
}
