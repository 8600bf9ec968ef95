// One HTTP/2 connection that always has the same number of calls in flight.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Call.h"

struct Tally {
  uint64_t right = 0;
  uint64_t wrong = 0;
};

class Connection {
 public:
  // Connects; throws std::runtime_error when it cannot.
  Connection(const Options &options, Call &call, Tally &tally);
  ~Connection();
  Connection(const Connection &) = delete;

  int socket() const { return socket_; }
  // Writes what is due; call once after construction.
  void start();
  // Reads what has come, answers it with new calls, writes them all at once.
  void readable();

 private:
  void submit(Flight &flight);
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
  std::string out_;
};
