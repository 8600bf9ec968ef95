#include "Call.h"

#include <cstdio>
#include <cstring>

namespace {
constexpr size_t kPrefix = 5;  // gRPC: one byte of flags, four of length

void append_string(std::string &out, int field, const std::string &value) {
  out.push_back(static_cast<char>(field << 3 | 2));
  out.push_back(static_cast<char>(value.size()));  // all of ours are shorter than 128 bytes
  out += value;
}

// `CheckResponse.entitlement` is field 1; in it, `name` is field 1 and the bool `entitled` field 2. Serializers write
// them in this order and leave `entitled` out when false.
bool says_entitled(const std::string &reply) {
  if (reply.size() < kPrefix + 2 || reply[0] != 0) return false;
  uint32_t length = 0;
  for (int i = 1; i <= 4; ++i) length = length << 8 | static_cast<uint8_t>(reply[i]);
  if (length != reply.size() - kPrefix || reply[kPrefix] != 0x0A) return false;
  size_t at = kPrefix + 1;
  while (at < reply.size() && reply[at] & 0x80) ++at;  // the length of the entitlement
  ++at;
  if (at + 1 < reply.size() && reply[at] == 0x0A) at += 2 + static_cast<uint8_t>(reply[at + 1]);
  return at + 1 < reply.size() && reply[at] == 0x10 && reply[at + 1] == 0x01;
}
}  // namespace

Call::Call(const Options &options)
    : kind_(!options.get_path.empty() ? Kind::get : options.post_path.empty() ? Kind::check : Kind::post),
      options_(options),
      bodies_(options.bodies) {
  const std::string authority = options.host + ":" + std::to_string(options.port);
  if (kind_ == Kind::check) {
    fields_ = {{":method", "POST"},
               {":scheme", "http"},
               {":path", "/entitled.v1.EntitlementService/Check"},
               {":authority", authority},
               {"te", "trailers"},
               {"content-type", "application/grpc"},
               {"user-agent", "entitled-bench"},
               {"grpc-timeout", "10S"},
               {"authorization", options.authorization}};
    if (!options.traceparent.empty()) fields_.push_back({"traceparent", options.traceparent});
    if (!options.at_least.empty()) fields_.push_back({"entitled-at-least", options.at_least});
  } else if (kind_ == Kind::post) {
    fields_ = {{":method", "POST"},
               {":scheme", "http"},
               {":path", options.post_path},
               {":authority", authority},
               {"content-type", "application/json"},
               {"user-agent", "entitled-bench"}};
  } else {
    fields_ = {{":method", "GET"},
               {":scheme", "http"},
               {":path", options.get_path},
               {":authority", authority},
               {"user-agent", "entitled-bench"}};
  }
  for (auto &[name, value] : fields_) {
    headers_.push_back({reinterpret_cast<uint8_t *>(name.data()), reinterpret_cast<uint8_t *>(value.data()),
                        name.size(), value.size(),
                        NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE});
  }
}

bool Call::prepare(Flight &flight) {
  flight.sent = 0;
  flight.reply.clear();
  flight.ok_status = flight.ok_trailers = false;
  if (kind_ == Kind::get) return true;
  if (kind_ == Kind::post) return bodies_.next(flight.request);

  char customer[32];
  std::snprintf(customer, sizeof customer, "customer-%07u",
                static_cast<unsigned>(1 + random_() % options_.customers));
  flight.request.assign(kPrefix, '\0');
  append_string(flight.request, 1, options_.app);
  append_string(flight.request, 2, customer);
  append_string(flight.request, 3, options_.entitlement);
  flight.request[4] = static_cast<char>(flight.request.size() - kPrefix);
  return true;
}

bool Call::is_right(const Flight &flight) const {
  if (kind_ != Kind::check) return flight.ok_status && !flight.reply.empty();
  return flight.ok_status && flight.ok_trailers && says_entitled(flight.reply);
}
