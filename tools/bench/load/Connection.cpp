#include "Connection.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace {
constexpr int32_t kWindow = 1 << 24;  // large enough to never wait

int connect_to(const Options &options) {
  int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(options.port));
  int one = 1;
  if (fd < 0 || inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1 ||
      connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0 ||
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0) {
    throw std::runtime_error("cannot connect to " + options.host + ":" + std::to_string(options.port) + ": " +
                             std::strerror(errno));
  }
  return fd;
}

void require(int result, const char *what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + nghttp2_strerror(result));
}

Flight *flight_of(nghttp2_session *session, int32_t stream) {
  return static_cast<Flight *>(nghttp2_session_get_stream_user_data(session, stream));
}
}  // namespace

Connection::Connection(const Options &options, Call &call, Tally &tally)
    : call_(call), tally_(tally), socket_(connect_to(options)), flights_(options.streams),
      has_rate_(options.rate > 0) {
  nghttp2_session_callbacks *callbacks = nullptr;
  require(nghttp2_session_callbacks_new(&callbacks), "callbacks");
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
  require(nghttp2_session_client_new(&session_, callbacks, this), "session");
  nghttp2_session_callbacks_del(callbacks);

  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow}};
  require(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 2), "settings");
  require(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kWindow), "window");
}

Connection::~Connection() {
  nghttp2_session_del(session_);
  close(socket_);
}

void Connection::start() {
  for (auto &flight : flights_) {
    if (has_rate_) {
      free_.push_back(&flight);
    } else {
      submit(flight);
    }
  }
  flush();
}

void Connection::make_call(Clock::time_point due) {
  if (free_.empty()) return waiting_.push_back(due);
  auto &flight = *free_.back();
  free_.pop_back();
  flight.due = due;
  submit(flight);
  flush();
}

void Connection::reuse(Flight &flight) {
  if (!has_rate_) return submit(flight);
  if (waiting_.empty()) return free_.push_back(&flight);
  flight.due = waiting_.front();
  waiting_.pop_front();
  submit(flight);
}

void Connection::readable() {
  uint8_t buffer[1 << 16];
  ssize_t count = recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) throw std::runtime_error("the server closed a connection");
  require(static_cast<int>(nghttp2_session_mem_recv(session_, buffer, static_cast<size_t>(count))), "receive");
  flush();
}

void Connection::submit(Flight &flight) {
  if (!call_.prepare(flight)) return;
  ++in_flight_;
  nghttp2_data_provider body{};
  body.source.ptr = &flight;
  body.read_callback = read_body;
  auto &headers = call_.headers();
  require(nghttp2_submit_request(session_, nullptr, headers.data(), headers.size(),
                                 call_.has_body() ? &body : nullptr, &flight),
          "request");
}

// Writes all pending bytes at once, as real clients do; waits while the socket is full.
void Connection::flush() {
  const uint8_t *bytes = nullptr;
  ssize_t count = 0;
  out_.clear();
  while ((count = nghttp2_session_mem_send(session_, &bytes)) > 0) {
    out_.append(reinterpret_cast<const char *>(bytes), static_cast<size_t>(count));
  }
  require(static_cast<int>(count), "send");
  for (size_t sent = 0; sent < out_.size();) {
    ssize_t written = send(socket_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written > 0) {
      sent += static_cast<size_t>(written);
    } else if (errno == EAGAIN) {
      pollfd full{socket_, POLLOUT, 0};
      poll(&full, 1, 1000);
    } else if (errno != EINTR) {
      throw std::runtime_error(std::string("cannot send: ") + std::strerror(errno));
    }
  }
}

int Connection::on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                          size_t name_length, const uint8_t *value, size_t value_length, uint8_t, void *) {
  auto *flight = flight_of(session, frame->hd.stream_id);
  if (flight == nullptr) return 0;
  std::string_view key(reinterpret_cast<const char *>(name), name_length);
  std::string_view text(reinterpret_cast<const char *>(value), value_length);
  if (key == ":status") flight->ok_status = text == "200";
  if (key == "grpc-status") flight->ok_trailers = text == "0";
  return 0;
}

int Connection::on_data(nghttp2_session *session, uint8_t, int32_t stream, const uint8_t *data, size_t length,
                        void *) {
  if (auto *flight = flight_of(session, stream)) {
    flight->reply.append(reinterpret_cast<const char *>(data), length);
  }
  return 0;
}

int Connection::on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *user) {
  auto &self = *static_cast<Connection *>(user);
  auto *flight = flight_of(session, stream);
  if (flight == nullptr) return 0;
  bool right = error == NGHTTP2_NO_ERROR && self.call_.is_right(*flight);
  ++(right ? self.tally_.right : self.tally_.wrong);
  --self.in_flight_;
  if (self.has_rate_) {
    std::chrono::duration<double, std::micro> taken = Clock::now() - flight->due;
    self.tally_.microseconds.push_back(taken.count());
  }
  self.reuse(*flight);
  return 0;
}

ssize_t Connection::read_body(nghttp2_session *, int32_t, uint8_t *buffer, size_t length, uint32_t *flags,
                              nghttp2_data_source *source, void *) {
  auto &flight = *static_cast<Flight *>(source->ptr);
  size_t count = std::min(length, flight.request.size() - flight.sent);
  std::memcpy(buffer, flight.request.data() + flight.sent, count);
  flight.sent += count;
  if (flight.sent == flight.request.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(count);
}
