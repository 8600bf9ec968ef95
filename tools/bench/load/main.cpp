// Load for one HTTP/2 server: N connections with M calls in flight each, every answer checked.
//
// Sends gRPC Checks of random customers (or plain GETs, or POSTs of bodies from a file) for a while, and
// prints the server process's CPU time per call: `calls=… wrong=… cpu_us=… calls_per_second=…`.
// With a rate it sends this many calls per second unconditionally, and also prints `p50_us=… p99_us=… p999_us=…` and the
// number of calls over 200 ms, `over_200ms=…`, measured from the due time of each call. Single-threaded, so that it can be
// pinned to a core that the server does not use.
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include "../../../Sources/C/Linux/shim.h"
#include "Call.h"
#include "Connection.h"
#include "Options.h"

namespace {
// The time slice of a client with a rate, in nanoseconds; that of the server's event loops.
constexpr unsigned long long kSlice = 100'000;

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
  explicit Load(const Options &options)
      : call_(options),
        epoll_(epoll_create1(0)),
        timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)),
        rate_(options.rate) {
    epoll_event tick{};
    tick.events = EPOLLIN | EPOLLET;  // a rearmed timer need not be read
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, timer_, &tick) != 0) throw std::runtime_error("epoll_ctl failed");
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

  ~Load() {
    close(timer_);
    close(epoll_);
  }

  void start() {
    for (auto &connection : connections_) connection->start();
  }

  // Runs calls for the given time, or until the bodies are exhausted; reports the answered ones.
  Tally run(double seconds) {
    tally_ = Tally{};
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    epoll_event ready[256];
    while (Clock::now() < end && (rate_ > 0 || is_busy())) {
      if (rate_ > 0) make_due_calls();
      int count = epoll_wait(epoll_, ready, 256, 100);
      for (int i = 0; i < count; ++i) {
        if (ready[i].data.ptr != nullptr) static_cast<Connection *>(ready[i].data.ptr)->readable();
      }
    }
    return tally_;
  }

 private:
  bool is_busy() const {
    return std::any_of(connections_.begin(), connections_.end(), [](auto &c) { return c->is_busy(); });
  }

  // Starts the due calls, each on the next connection, and sets the timer for the next one.
  void make_due_calls() {
    if (next_ == Clock::time_point{}) next_ = Clock::now();
    for (; next_ <= Clock::now(); next_ += std::chrono::nanoseconds(static_cast<int64_t>(1e9 / rate_))) {
      connections_[turn_++ % connections_.size()]->make_call(next_);
    }
    const auto since = next_.time_since_epoch();
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(since);
    itimerspec at{};
    at.it_value.tv_sec = whole.count();
    at.it_value.tv_nsec = std::chrono::duration_cast<std::chrono::nanoseconds>(since - whole).count();
    if (timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr) != 0) throw std::runtime_error("no timer");
  }

  Tally tally_;
  Call call_;
  int epoll_;
  int timer_;
  const double rate_;
  Clock::time_point next_{};  // when the next call is due
  size_t turn_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
};

// The quantile of the values, which are not empty.
double percentile(std::vector<double> &values, double share) {
  auto place = values.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}
}  // namespace

int main(int argc, char **argv) {
  const Options options = parse_options(argc, argv);
  // A client that measures times stands for one on another machine, which does not wait for threads of the server.
  if (options.rate > 0) entitled_take_turns(kSlice, 0);
  try {
    Load load(options);
    load.start();
    load.run(options.warmup_seconds);

    const double cpu = cpu_microseconds(options.server);
    const auto begin = Clock::now();
    Tally tally = load.run(options.seconds);
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    const double spent = cpu_microseconds(options.server) - cpu;

    const uint64_t calls = tally.right + tally.wrong;
    if (calls == 0) throw std::runtime_error("the server answered nothing");
    std::printf("calls=%llu wrong=%llu cpu_us=%.3f calls_per_second=%.0f",
                static_cast<unsigned long long>(calls), static_cast<unsigned long long>(tally.wrong),
                spent / static_cast<double>(calls), static_cast<double>(calls) / elapsed);
    if (auto &taken = tally.microseconds; !taken.empty()) {
      std::printf(" p50_us=%.0f p99_us=%.0f p999_us=%.0f", percentile(taken, 0.5), percentile(taken, 0.99),
                  percentile(taken, 0.999));
      const auto slow = std::count_if(taken.begin(), taken.end(), [](double time) { return time > 200'000; });
      std::printf(" over_200ms=%lld", static_cast<long long>(slow));
    }
    std::printf("\n");
    return tally.wrong == 0 ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "load: %s\n", error.what());
    return 1;
  }
}
