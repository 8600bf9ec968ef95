internal import CNghttp2
internal import HTTP

// Each callback copies its arguments into the state of the stream or session and returns, so that no owner code runs
// while nghttp2 is on the stack.
func installReceiveCallbacks(_ callbacks: OpaquePointer?) {
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, user in
    guard let frame else { return 0 }
    return beginHeaders(session, frame.pointee, borrowed(user))
  }
  nghttp2_session_callbacks_set_on_header_callback(callbacks) {
    _, _, name, nameLength, value, valueLength, _, user in
    guard let stream = borrowed(user).pointee.receivingHeaders else { return 0 }
    let name = UnsafeRawBufferPointer(start: name, count: nameLength)
    let value = UnsafeRawBufferPointer(start: value, count: valueLength)
    if receiveField(name, value, into: stream, borrowed(user)) { return 0 }
    // A server reads no further. For a client nghttp2 resets the stream, and decodes the rest of the block.
    let result = borrowed(user).pointee.isServer ? NGHTTP2_ERR_PAUSE : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE
    return result.rawValue
  }
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
    session, _, id, bytes, count, user in
    // Only the window of the stream slows the sender down; that of the connection would stop its other streams.
    nghttp2_session_consume_connection(session, count)
    guard let stream = openStream(session, id) else { return 0 }
    borrowed(user).pointee.bodyReceived(UnsafeBufferPointer(start: bytes, count: count), stream)
    return 0
  }
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, user in
    guard let frame else { return 0 }
    frameReceived(session, frame.pointee, borrowed(user))
    return 0
  }
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, id, code, user in
    streamClosed(session, id, ErrorCode(rawValue: code), borrowed(user))
    return 0
  }
  nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { session, frame, _, user in
    guard let header = frame?.pointee.hd else { return 0 }
    if borrowed(user).pointee.isServer {
      responseNotSent(session, header)
    } else {
      requestNotSent(session, header, borrowed(user))
    }
    return 0
  }
}

private func streamClosed(
  _ session: OpaquePointer?, _ id: Int32, _ code: ErrorCode, _ state: UnsafeMutablePointer<SessionState>
) {
  if code.blamesPeer { state.pointee.controlFrames.count += Session.costOfReset }
  guard let stream = openStream(session, id) else { return }
  nghttp2_session_set_stream_user_data(session, id, nil)
  state.pointee.close(stream, id, code)
}

/// Resets a stream whose response nghttp2 cannot send, because the peer would wait for it.
private func responseNotSent(_ session: OpaquePointer?, _ header: nghttp2_frame_hd) {
  guard UInt32(header.type) == NGHTTP2_HEADERS.rawValue, openStream(session, header.stream_id) != nil else {
    return
  }
  nghttp2_submit_rst_stream(
    session, UInt8(NGHTTP2_FLAG_NONE.rawValue), header.stream_id, ErrorCode.internalError.rawValue)
}

/// Closes the stream of a request that could not be opened, after the peer's GOAWAY for example.
private func requestNotSent(
  _ session: OpaquePointer?, _ header: nghttp2_frame_hd, _ state: UnsafeMutablePointer<SessionState>
) {
  guard openStream(session, header.stream_id) == nil, let stream = state.pointee.requested[header.stream_id]
  else { return }
  state.pointee.close(stream, header.stream_id, .refusedStream)
}

/// Prepares for a header block: of an open stream its trailers or a response, otherwise a request. A request beyond
/// the maximum of streams is refused before its fields are decoded.
private func beginHeaders(
  _ session: OpaquePointer?, _ frame: nghttp2_frame, _ state: UnsafeMutablePointer<SessionState>
) -> CInt {
  let id = frame.hd.stream_id
  state.pointee.openHeaderBlock = id
  if let known = openStream(session, id) {
    state.pointee.receivingHeaders = known
    return 0
  }
  guard state.pointee.isServer, frame.headers.cat == NGHTTP2_HCAT_REQUEST else {
    state.pointee.receivingHeaders = nil
    return 0
  }
  guard state.pointee.openStreams < state.pointee.maxStreams else {
    state.pointee.receivingHeaders = nil
    state.pointee.openHeaderBlock = nil
    state.pointee.controlFrames.count += 1
    nghttp2_submit_rst_stream(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, ErrorCode.refusedStream.rawValue)
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
  }
  let stream = state.pointee.streams.take()
  state.pointee.openStreams += 1
  nghttp2_session_set_stream_user_data(session, id, stream)
  state.pointee.receivingHeaders = stream
  return 0
}

/// Keeps a field within the limit; returns whether the rest of the block is worth reading.
private func receiveField(
  _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
  into stream: UnsafeMutablePointer<StreamState>, _ state: UnsafeMutablePointer<SessionState>
) -> Bool {
  let limit = state.pointee.headerBytes
  if stream.pointee.headIsComplete {
    // No server reads the trailers of a request, and their stream may last for an hour.
    if state.pointee.isServer { return state.pointee.drop(name.count + value.count + 32) }
    if stream.pointee.trailers.append(name: name, value: value, limit: limit) { return true }
  } else if stream.pointee.head.append(name: name, value: value, limit: limit) {
    return true
  } else {
    stream.pointee.headersTooLarge = true
  }
  return state.pointee.drop(name.count + value.count + 32)
}

/// Makes the events of a whole frame. A frame on a stream that was closed makes none.
private func frameReceived(
  _ session: OpaquePointer?, _ frame: nghttp2_frame, _ state: UnsafeMutablePointer<SessionState>
) {
  let id = StreamID(rawValue: frame.hd.stream_id)
  let endOfStream = UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
  switch UInt32(frame.hd.type) {
  case NGHTTP2_HEADERS.rawValue:
    state.pointee.headersEnded()
    guard let stream = openStream(session, id.rawValue) else { return }
    headersReceived(id, stream, endOfStream: endOfStream, state)
  case NGHTTP2_DATA.rawValue:
    guard let stream = openStream(session, id.rawValue) else { return }
    if endOfStream { state.pointee.inboundEnded(stream) }
    state.pointee.events.append(.data(id, endOfStream: endOfStream))
  case NGHTTP2_GOAWAY.rawValue:
    state.pointee.events.append(.goAway(ErrorCode(rawValue: frame.goaway.error_code)))
  case NGHTTP2_PING.rawValue where UInt32(frame.hd.flags) & NGHTTP2_FLAG_ACK.rawValue != 0:
    // The payload of the ping (RFC 9113, section 6.7).
    let purpose = withUnsafeBytes(of: frame.ping.opaque_data) { $0.loadUnaligned(as: UInt64.self) }
    state.pointee.events.append(.pong(UInt64(bigEndian: purpose)))
  default: break
  }
}

/// Makes the event of a whole header block: trailers if the head was complete, otherwise the head. An interim
/// response makes none.
private func headersReceived(
  _ id: StreamID, _ stream: UnsafeMutablePointer<StreamState>, endOfStream: Bool,
  _ state: UnsafeMutablePointer<SessionState>
) {
  if endOfStream { state.pointee.inboundEnded(stream) }
  if stream.pointee.headIsComplete {
    state.pointee.events.append(.trailers(id))
  } else if stream.pointee.headersTooLarge {
    stream.pointee.headIsComplete = true
    state.pointee.events.append(.headersTooLarge(id))
  } else if !state.pointee.isServer, stream.pointee.head[":status"]?.hasPrefix("1") == true {
    // An interim response (RFC 9110, section 15.2): the final one is still to come.
    stream.pointee.head.removeAll()
  } else {
    stream.pointee.headIsComplete = true
    if state.pointee.isServer { state.pointee.headReceived(stream, endOfStream: endOfStream) }
    state.pointee.events.append(.headers(id, endOfStream: endOfStream))
  }
}
