#include "Options.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

namespace {
[[noreturn]] void stop(const std::string &message) {
  std::fprintf(stderr, "load: %s\n", message.c_str());
  std::exit(2);
}

double number(const std::string &name, const char *text) {
  char *end = nullptr;
  double value = std::strtod(text, &end);
  if (end == text || *end != 0) stop(name + " takes a number, not '" + text + "'");
  return value;
}
}  // namespace

Options parse_options(int argc, char **argv) {
  Options o;
  using Set = std::function<void(const std::string &, const char *)>;
  const std::map<std::string, Set> flags = {
      {"--host", [&](auto &, auto v) { o.host = v; }},
      {"--port", [&](auto &n, auto v) { o.port = number(n, v); }},
      {"--connections", [&](auto &n, auto v) { o.connections = number(n, v); }},
      {"--streams", [&](auto &n, auto v) { o.streams = number(n, v); }},
      {"--warmup", [&](auto &n, auto v) { o.warmup_seconds = number(n, v); }},
      {"--seconds", [&](auto &n, auto v) { o.seconds = number(n, v); }},
      {"--server-pid", [&](auto &n, auto v) { o.server = number(n, v); }},
      {"--rate", [&](auto &n, auto v) { o.rate = number(n, v); }},
      {"--post", [&](auto &, auto v) { o.post_path = v; }},
      {"--bodies", [&](auto &, auto v) { o.bodies = v; }},
      {"--get", [&](auto &, auto v) { o.get_path = v; }},
      {"--app", [&](auto &, auto v) { o.app = v; }},
      {"--entitlement", [&](auto &, auto v) { o.entitlement = v; }},
      {"--authorization", [&](auto &, auto v) { o.authorization = v; }},
      {"--traceparent", [&](auto &, auto v) { o.traceparent = v; }},
      {"--at-least", [&](auto &, auto v) { o.at_least = v; }},
      {"--customers", [&](auto &n, auto v) { o.customers = number(n, v); }},
  };
  for (int i = 1; i < argc; i += 2) {
    auto flag = flags.find(argv[i]);
    if (flag == flags.end()) stop(std::string("unknown flag ") + argv[i]);
    if (i + 1 == argc) stop(flag->first + " takes a value");
    flag->second(flag->first, argv[i + 1]);
  }
  if (o.port == 0 || o.server == 0) stop("--port and --server-pid are needed");
  if (o.connections < 1 || o.streams < 1 || o.customers < 1) stop("a count is below 1");
  if (o.post_path.empty() != o.bodies.empty()) stop("--post and --bodies go together");
  return o;
}
