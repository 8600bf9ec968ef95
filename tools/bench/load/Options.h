// What one run of the load generator is asked to do.
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
  pid_t server = 0;          // whose CPU is measured

  double rate = 0;           // calls per second, come what may; 0: a new call whenever one is answered

  std::string get_path;      // not empty: plain GETs of this path instead of Checks
  std::string post_path;     // not empty: plain POSTs to this path instead of Checks
  std::string bodies;        // the file with what is posted, one body a line; the run ends with the last
  std::string app = "ocean-journal";
  std::string entitlement = "pro";
  std::string authorization = "Bearer benchmark-token-benchmark-token";
  uint32_t customers = 100'000;
};

// Reads the command line; on a mistake says which one and exits with status 2.
Options parse_options(int argc, char **argv);
