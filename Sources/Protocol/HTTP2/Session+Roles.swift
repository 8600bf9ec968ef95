internal import CNghttp2
package import HTTP

// The operations of one side of the connection.
extension Session {
  // MARK: Client

  /// Opens a stream with a request. Without `endOfStream` the body follows through ``send(on:_:)`` and ends with
  /// ``finish(_:trailers:)``.
  ///
  /// - Throws: ``HTTP2Error`` if the connection has no stream ids left.
  package func request(_ fields: HeaderFields, endOfStream: Bool) throws(HTTP2Error) -> StreamID {
    let stream = state.pointee.streams.take()
    var id: CInt = 0
    withNameValues(fields) { list, count in
      var body = bodySource()
      id =
        endOfStream
        ? nghttp2_submit_request(session, nil, list, count, nil, stream)
        : nghttp2_submit_request(session, nil, list, count, &body, stream)
    }
    guard id > 0 else {
      state.pointee.streams.release(stream)
      throw HTTP2Error(code: id)
    }
    state.pointee.requested[id] = stream
    state.pointee.openStreams += 1
    return StreamID(rawValue: id)
  }

  // MARK: Server

  /// Responds to a request. Without `endOfStream` the body follows through ``send(on:_:)`` and ends with
  /// ``finish(_:trailers:)``.
  ///
  /// Fields over ``maxHeaderBytes`` reset the stream instead. Many fields of the request are freed at the end of the
  /// response: nothing reads them, and the peer decides when the stream closes.
  package func respond(on id: StreamID, _ fields: HeaderFields, endOfStream: Bool) {
    guard fields.sizeInBytes <= maxHeaderBytes else { return reset(id, .internalError) }
    if endOfStream { openStream(session, id.rawValue)?.pointee.discardLargeHead() }
    withNameValues(fields) { list, count in
      if endOfStream {
        _ = nghttp2_submit_response(session, id.rawValue, list, count, nil)
      } else {
        submitHead(id, list, count)
      }
    }
  }

  /// Responds to a request as ``respond(on:_:endOfStream:)`` does; the body follows.
  package func respond(on id: StreamID, _ fields: ConstantFields) {
    guard fields.sizeInBytes <= maxHeaderBytes else { return reset(id, .internalError) }
    submitHead(id, fields.list, fields.count)
  }

  private func submitHead(_ id: StreamID, _ list: UnsafePointer<nghttp2_nv>?, _ count: Int) {
    var body = bodySource()
    _ = nghttp2_submit_response(session, id.rawValue, list, count, &body)
  }

  /// Announces to the peer that the connection will end: it should open no more streams, and those that are
  /// on the way are still served (RFC 9113, section 6.8). ``finishGoAway()`` follows a round trip later.
  package func announceGoAway() {
    _ = nghttp2_submit_shutdown_notice(session)
  }

  /// Refuses every stream from now on; those that are open continue to their end.
  package func finishGoAway() {
    let last = nghttp2_session_get_last_proc_stream_id(session)
    _ = nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, ErrorCode.noError.rawValue, nil, 0)
  }
}
