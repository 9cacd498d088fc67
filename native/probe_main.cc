/** The native core as a program, for nodes without Node.js. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "core/fnv.h"
#include "core/measure.h"
#include "core/probe.h"
#include "core/report_json.h"

namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 64;   // EX_USAGE of sysexits.h
constexpr int exit_output = 74;  // EX_IOERR

constexpr const char* usage =
    "Usage: meshwright-probe [--help | --version | fnv FILE... | measure DEVICE GID-INDEX END SECONDS]\n"
    "Prints the RDMA devices of this computer as one line of JSON, read from the verbs library.\n"
    "Opens no protection domain and no queue pair.\n"
    "With fnv, prints the 64-bit FNV-1a hash and the name of each file.\n"
    "With measure, measures a cable. END is lead at one end and follow at the other; the output of each\n"
    "is the input of the other. It needs a protection domain and a queue pair, and gives both back.\n"
    "Exit codes: 0 if everything was printed, also if something in the JSON is unknown; 1 if a file\n"
    "could not be read or the measurement failed; 64 for an unknown argument; 74 if the output could\n"
    "not be written.\n";

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
      status = exit_failed;
    } else if (const int failure = print(std::get<std::string>(hash) + "  " + name + "\n")) {
      return failure;
    }
  }
  return status;
}

/** A whole text as a number in a range. */
std::optional<double> number_in(const std::string& text, double smallest, double largest) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_whole = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos && *end == 0;
  return is_whole && number >= smallest && number <= largest ? std::optional(number) : std::nullopt;
}

std::optional<meshwright::MeasureOptions> measure_options(const std::vector<std::string>& words) {
  if (words.size() != 4 || (words[2] != "lead" && words[2] != "follow")) return std::nullopt;
  const auto gid_index = number_in(words[1], 0, 255);
  const auto seconds = number_in(words[3], 0.01, 60);
  if (!gid_index || *gid_index != static_cast<int>(*gid_index) || !seconds) return std::nullopt;
  return meshwright::MeasureOptions{words[0], static_cast<int>(*gid_index), words[2] == "lead", *seconds};
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): only a lack of memory throws, and then the program may end
int main(int count, char** arguments) {
  if (count <= 1) return print(meshwright::report_json(meshwright::probe()) + "\n");
  const std::string argument = arguments[1];
  if (count == 2 && argument == "--help") return print(usage);
  if (count == 2 && argument == "--version") return print("meshwright-probe " MESHWRIGHT_VERSION "\n");
  if (count > 2 && argument == "fnv") return print_hashes({arguments + 2, arguments + count});
  if (count > 2 && argument == "measure") {
    if (const auto options = measure_options({arguments + 2, arguments + count})) {
      return meshwright::measure(*options) ? 0 : exit_failed;
    }
  }
  std::fprintf(stderr, "Unknown arguments.\n%s", usage);
  return exit_usage;
}
