// One kind of call: the headers and body that are sent, and what makes its answer the right one.
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

// One call in flight. Reused for the next call on the same connection once it is answered.
struct Flight {
  std::string request;  // what is still to be sent is request[sent...]
  size_t sent = 0;
  std::string reply;
  bool ok_status = false;    // ":status: 200"
  bool ok_trailers = false;  // "grpc-status: 0"
  Clock::time_point due;     // when it was to be sent
};

class Call {
 public:
  explicit Call(const Options &options);

  const std::vector<nghttp2_nv> &headers() const { return headers_; }
  bool has_body() const { return kind_ != Kind::get; }

  // Makes the flight ready for the next call; for a Check it asks about a random customer. False if there
  // is nothing more to post.
  bool prepare(Flight &flight);
  // Whether the answer in the flight, now whole, is what a right server answers.
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
