// One HTTP/2 connection. Without a rate it always has the same number of calls in flight.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "Call.h"

struct Tally {
  uint64_t right = 0;
  uint64_t wrong = 0;
  std::vector<double> microseconds;  // from due time to response; with a rate only
};

class Connection {
 public:
  // Connects; throws std::runtime_error on failure.
  Connection(const Options &options, Call &call, Tally &tally);
  ~Connection();
  Connection(const Connection &) = delete;

  int socket() const { return socket_; }
  // Writes pending bytes; call once after construction.
  void start();
  // Makes one call at `due`, or as soon as a flight is free; for use with a rate.
  void make_call(Clock::time_point due);
  // Whether calls are in flight.
  bool is_busy() const { return in_flight_ > 0; }
  // Reads available responses, starts new calls, writes them all at once.
  void readable();

 private:
  void submit(Flight &flight);
  // Starts the next call, if any, in an answered flight.
  void reuse(Flight &flight);
  void flush();
  static int on_header(nghttp2_session *, const nghttp2_frame *, const uint8_t *, size_t, const uint8_t *,
                       size_t, uint8_t, void *);
  static int on_data(nghttp2_session *, uint8_t, int32_t, const uint8_t *, size_t, void *);
  static int on_close(nghttp2_session *, int32_t, uint32_t, void *);
  static ssize_t read_body(nghttp2_session *, int32_t, uint8_t *, size_t, uint32_t *,
                           nghttp2_data_source *, void *);

  Call &call_;
  Tally &tally_;
  int socket_ = -1;
  nghttp2_session *session_ = nullptr;
  std::vector<Flight> flights_;
  std::vector<Flight *> free_;           // with a rate only
  std::deque<Clock::time_point> waiting_;  // calls without a free flight
  const bool has_rate_;
  size_t in_flight_ = 0;
  std::string out_;
};
