// One kind of call: its headers and body, and the check of its response.
#pragma once

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "Bodies.h"
#include "Options.h"

using Clock = std::chrono::steady_clock;

// One call in flight. Reused for the next call on the same connection after its response.
struct Flight {
  std::string request;  // request[sent...] is unsent
  size_t sent = 0;
  std::string reply;
  bool ok_status = false;    // ":status: 200"
  bool ok_trailers = false;  // "grpc-status: 0"
  Clock::time_point due;     // its due time
};

class Call {
 public:
  explicit Call(const Options &options);

  const std::vector<nghttp2_nv> &headers() const { return headers_; }
  bool has_body() const { return kind_ != Kind::get; }

  // Prepares the flight for the next call; a Check gets a random customer. Returns false if no body is
  // left.
  bool prepare(Flight &flight);
  // Whether the complete response in the flight is correct.
  bool is_right(const Flight &flight) const;

 private:
  enum class Kind { check, get, post };
  const Kind kind_;
  const Options options_;
  Bodies bodies_;
  std::vector<std::pair<std::string, std::string>> fields_;
  std::vector<nghttp2_nv> headers_;
  std::minstd_rand random_{20'240'607};
};
