/** The native core as a program, for nodes without Node.js. */
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "core/fnv.h"
#include "core/probe.h"
#include "core/report_json.h"

namespace {

constexpr int exit_unread = 1;
constexpr int exit_usage = 64;   // EX_USAGE of sysexits.h
constexpr int exit_output = 74;  // EX_IOERR

constexpr const char* usage =
    "Usage: meshwright-probe [--help | --version | fnv FILE...]\n"
    "Prints the RDMA devices of this computer as one line of JSON, read from the verbs library.\n"
    "Opens no protection domain and no queue pair.\n"
    "With fnv, prints the 64-bit FNV-1a hash and the name of each file.\n"
    "Exit codes: 0 if everything was printed, also if something in the JSON is unknown; 1 if a file\n"
    "could not be read; 64 for an unknown argument; 74 if the output could not be written.\n";

int print(const std::string& text) {
  const bool is_written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return is_written ? 0 : exit_output;
}

/** A name with a line break could pretend to be another line. */
bool has_control_character(const std::string& name) {
  return std::any_of(name.begin(), name.end(), [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; });
}

int print_hashes(const std::vector<std::string>& names) {
  int status = 0;
  for (const std::string& name : names) {
    const meshwright::Known<std::string> hash =
        has_control_character(name)
            ? meshwright::Unknown{meshwright::Reason::failed, "The name has a control character"}
            : meshwright::fnv_of_file(name);
    if (const meshwright::Unknown* why = meshwright::unknown_in(hash)) {
      std::fprintf(stderr, "%s: %s\n", meshwright::json_string(name).c_str(), why->detail.c_str());
      status = exit_unread;
    } else if (const int failure = print(std::get<std::string>(hash) + "  " + name + "\n")) {
      return failure;
    }
  }
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  if (count <= 1) return print(meshwright::report_json(meshwright::probe()) + "\n");
  const std::string argument = arguments[1];
  if (count == 2 && argument == "--help") return print(usage);
  if (count == 2 && argument == "--version") return print("meshwright-probe " MESHWRIGHT_VERSION "\n");
  if (count > 2 && argument == "fnv") return print_hashes({arguments + 2, arguments + count});
  std::fprintf(stderr, "Unknown arguments.\n%s", usage);
  return exit_usage;
}
