// The options of one run of the load generator.
#pragma once

#include <cstdint>
#include <string>

struct Options {
  std::string host = "127.0.0.1";
  int port = 0;
  int connections = 8;
  int streams = 32;          // calls in flight on each connection
  double warmup_seconds = 0.5;
  double seconds = 3;
  pid_t server = 0;          // the measured process

  double rate = 0;           // calls per second, unconditionally; 0: a new call after each response

  std::string get_path;      // not empty: plain GETs of this path instead of Checks
  std::string post_path;     // not empty: plain POSTs to this path instead of Checks
  std::string bodies;        // the file of bodies, one per line; the run ends with the last
  std::string app = "ocean-journal";
  std::string entitlement = "pro";
  std::string authorization = "Bearer benchmark-token-benchmark-token";
  std::string traceparent;   // not empty: the header field of each Check
  std::string at_least;      // not empty: the position that each Check requires
  uint32_t customers = 100'000;
};

// Parses the command line; on an error prints it and exits with status 2.
Options parse_options(int argc, char **argv);
