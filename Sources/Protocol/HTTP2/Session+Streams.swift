internal import CNghttp2
package import HTTP

// The received part of a stream.
extension Session {
  /// The fields that opened a stream; `nil` once it is closed.
  package func head(of id: StreamID) -> HeaderFields? { stream(id)?.pointee.head }

  /// The fields after the body of a response; `nil` once the stream is closed. Those of requests are dropped.
  package func trailers(of id: StreamID) -> HeaderFields? {
    stream(id)?.pointee.trailers
  }

  /// Lends the received bytes that were not removed yet; does nothing once the stream is closed.
  package func withInbound(of id: StreamID, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard let stream = self.stream(id) else { return }
    stream.pointee.inbound.withUnsafeBufferPointer { body(UnsafeRawBufferPointer($0)) }
  }

  /// A copy of the received bytes that were not removed yet; `nil` once the stream is closed.
  package func inbound(of id: StreamID) -> [UInt8]? { stream(id)?.pointee.inbound }

  /// Whether the peer has ended its side of a stream, or the stream is closed.
  package func hasInboundEnded(of id: StreamID) -> Bool {
    stream(id)?.pointee.inboundHasEnded ?? true
  }

  /// The number of received bytes that were not removed yet.
  package func inboundCount(of id: StreamID) -> Int {
    stream(id)?.pointee.inbound.count ?? 0
  }

  /// Removes the first `count` received bytes. This does not open the window: see
  /// ``allowMore(_:on:)``.
  package func removeInbound(_ count: Int, of id: StreamID) {
    guard count > 0, let stream = self.stream(id) else { return }
    let removed = min(count, stream.pointee.inbound.count)
    stream.pointee.inbound.removeFirst(removed)
    state.pointee.inboundBytes -= removed
    if stream.pointee.inboundHasEnded { state.pointee.completeBytes -= removed }
  }

  /// Frees the received bytes of a stream whose request nothing reads again. They still count in ``inboundBytes`` until
  /// the stream closes, because the owner works on what they said. A small buffer is kept for the next stream.
  package func discardInbound(of id: StreamID) {
    guard let stream = self.stream(id) else { return }
    stream.pointee.discardInbound()
  }

  /// Frees the fields that opened a stream, which nothing reads again.
  package func discardHead(of id: StreamID) { stream(id)?.pointee.head = HeaderFields() }

  /// Counts `bytes` in ``incompleteBytes`` until the stream closes, for a call that lasts although its request is complete.
  package func hold(_ bytes: Int, for id: StreamID) {
    guard let stream = self.stream(id) else { return }
    stream.pointee.heldCost += bytes
    state.pointee.heldCosts += bytes
  }

  /// Opens the window of a stream by `count` bytes.
  package func allowMore(_ count: Int, on id: StreamID) {
    guard count > 0 else { return }
    nghttp2_session_consume_stream(session, id.rawValue, count)
  }
}

// The sent part of a stream.
extension Session {
  /// The number of unsent bytes of a stream.
  package func unsentCount(of id: StreamID) -> Int {
    stream(id)?.pointee.unsent ?? 0
  }

  /// Appends bytes to the outgoing body of a stream; does nothing if the stream is closed.
  package func send(on id: StreamID, _ append: (inout [UInt8]) -> Void) {
    guard let stream = self.stream(id) else { return }
    let before = stream.pointee.outbound.count
    append(&stream.pointee.outbound)
    state.pointee.unsentBytes += stream.pointee.outbound.count - before
    state.pointee.controlFrames.recordSent()
    resumeSending(stream, id)
  }

  /// Ends the outgoing body of a stream, with trailers if there are any. Trailers over ``maxHeaderBytes`` reset the
  /// stream instead.
  package func finish(_ id: StreamID, trailers: HeaderFields = HeaderFields()) {
    guard trailers.sizeInBytes <= maxHeaderBytes else { return reset(id, .internalError) }
    finish(id, trailers.isEmpty ? .none : .fields(trailers))
  }

  /// Ends the outgoing body of a stream as ``finish(_:trailers:)`` does.
  package func finish(_ id: StreamID, trailers: ConstantFields) {
    guard trailers.sizeInBytes <= maxHeaderBytes else { return reset(id, .internalError) }
    finish(id, .constant(trailers))
  }

  private func finish(_ id: StreamID, _ trailers: Trailers) {
    guard let stream = self.stream(id) else { return }
    if state.pointee.isServer { stream.pointee.discardLargeHead() }
    stream.pointee.outboundHasEnded = true
    stream.pointee.outboundTrailers = trailers
    resumeSending(stream, id)
  }
}

extension Session {
  /// A stream's state; `nil` once it is closed (for a client: and its events were taken).
  private func stream(_ id: StreamID) -> UnsafeMutablePointer<StreamState>? {
    if let open = openStream(session, id.rawValue) { return open }
    return state.pointee.isServer ? nil : state.pointee.requested[id.rawValue]
  }

  private func resumeSending(_ stream: UnsafeMutablePointer<StreamState>, _ id: StreamID) {
    guard stream.pointee.isDeferred else { return }
    stream.pointee.isDeferred = false
    _ = nghttp2_session_resume_data(session, id.rawValue)
  }
}
