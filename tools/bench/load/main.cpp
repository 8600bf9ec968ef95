// Load for one HTTP/2 server: N connections with M calls in flight each, every answer checked.
//
// Sends gRPC Checks of random customers (or plain GETs) for a while, and prints what the server's
// process spent of CPU on each: `calls=… wrong=… cpu_us=… calls_per_second=…`. Single-threaded, so
// that it can be pinned to a core the server does not use.
#include <sys/epoll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include "Call.h"
#include "Connection.h"
#include "Options.h"

namespace {
using Clock = std::chrono::steady_clock;

// CPU time of a whole process, user and system, of all threads, in microseconds.
double cpu_microseconds(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    throw std::runtime_error("cannot read the CPU time of process " + std::to_string(process));
  }
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

class Load {
 public:
  explicit Load(const Options &options) : call_(options), epoll_(epoll_create1(0)) {
    for (int i = 0; i < options.connections; ++i) {
      auto connection = std::make_unique<Connection>(options, call_, tally_);
      epoll_event interest{};
      interest.events = EPOLLIN;
      interest.data.ptr = connection.get();
      if (epoll_ctl(epoll_, EPOLL_CTL_ADD, connection->socket(), &interest) != 0) {
        throw std::runtime_error("epoll_ctl failed");
      }
      connections_.push_back(std::move(connection));
    }
  }

  ~Load() { close(epoll_); }

  void start() {
    for (auto &connection : connections_) connection->start();
  }

  // Keeps the calls going for so long and returns how many were answered.
  Tally run(double seconds) {
    const Tally before = tally_;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    epoll_event ready[256];
    while (Clock::now() < end) {
      int count = epoll_wait(epoll_, ready, 256, 100);
      for (int i = 0; i < count; ++i) static_cast<Connection *>(ready[i].data.ptr)->readable();
    }
    return {tally_.right - before.right, tally_.wrong - before.wrong};
  }

 private:
  Tally tally_;
  Call call_;
  int epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
};
}  // namespace

int main(int argc, char **argv) {
  const Options options = parse_options(argc, argv);
  try {
    Load load(options);
    load.start();
    load.run(options.warmup_seconds);

    const double cpu = cpu_microseconds(options.server);
    const auto begin = Clock::now();
    const Tally tally = load.run(options.seconds);
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    const double spent = cpu_microseconds(options.server) - cpu;

    const uint64_t calls = tally.right + tally.wrong;
    if (calls == 0) throw std::runtime_error("the server answered nothing");
    std::printf("calls=%llu wrong=%llu cpu_us=%.3f calls_per_second=%.0f\n",
                static_cast<unsigned long long>(calls), static_cast<unsigned long long>(tally.wrong),
                spent / static_cast<double>(calls), static_cast<double>(calls) / elapsed);
    return tally.wrong == 0 ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "load: %s\n", error.what());
    return 1;
  }
}
