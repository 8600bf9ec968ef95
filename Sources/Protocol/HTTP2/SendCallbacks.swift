internal import CNghttp2
internal import HTTP

/// The data source of every outgoing body: the state of its stream.
func bodySource() -> nghttp2_data_provider {
  var provider = nghttp2_data_provider()
  provider.read_callback = { session, id, buffer, length, flags, _, user in
    guard let stream = openStream(session, id), let buffer, let flags else {
      return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    return readBody(session, id, stream, into: buffer, length, flags, borrowed(user))
  }
  return provider
}

/// Copies the next bytes of a body into a DATA frame. The last frame ends the stream or announces the trailers;
/// without bytes, the stream waits until its owner has more.
private func readBody(
  _ session: OpaquePointer?, _ id: Int32, _ stream: UnsafeMutablePointer<StreamState>,
  into buffer: UnsafeMutablePointer<UInt8>, _ length: Int, _ flags: UnsafeMutablePointer<UInt32>,
  _ state: UnsafeMutablePointer<SessionState>
) -> Int {
  let count = min(length, stream.pointee.unsent)
  stream.pointee.outbound.withUnsafeBufferPointer { outbound in
    if count > 0, let start = outbound.baseAddress {
      buffer.update(from: start + stream.pointee.sent, count: count)
    }
  }
  stream.pointee.sent += count
  state.pointee.unsentBytes -= count
  state.pointee.bodyBytesSent += Int64(count)
  guard stream.pointee.unsent == 0 else {
    stream.pointee.discardSent()
    return count
  }
  stream.pointee.outbound.removeAll(keepingCapacity: true)
  stream.pointee.sent = 0
  if stream.pointee.outboundHasEnded {
    flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
    // Submits the trailers here, because otherwise nghttp2 ends the stream with this frame.
    switch stream.pointee.outboundTrailers {
    case .none: return count
    case .fields(let fields): withNameValues(fields) { _ = nghttp2_submit_trailer(session, id, $0, $1) }
    case .constant(let fields): nghttp2_submit_trailer(session, id, fields.list, fields.count)
    }
    flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
    return count
  }
  if count > 0 { return count }
  state.pointee.events.append(.drained(StreamID(rawValue: id)))
  stream.pointee.isDeferred = true
  return Int(NGHTTP2_ERR_DEFERRED.rawValue)
}

/// Lends the fields to nghttp2, which copies them before it returns.
func withNameValues(_ fields: HeaderFields, _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Void) {
  withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: max(fields.count, 1)) { list in
    fields.withFields { borrowed in
      var count = 0
      for field in borrowed {
        list.initializeElement(at: count, to: nghttp2_nv(field.name, field.value))
        count += 1
      }
      body(UnsafePointer(list.baseAddress), count)
    }
  }
}

extension nghttp2_nv {
  fileprivate init(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    self.init(
      name: UnsafeMutablePointer(mutating: name.assumingMemoryBound(to: UInt8.self).baseAddress),
      value: UnsafeMutablePointer(mutating: value.assumingMemoryBound(to: UInt8.self).baseAddress),
      namelen: name.count, valuelen: value.count, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
  }
}
