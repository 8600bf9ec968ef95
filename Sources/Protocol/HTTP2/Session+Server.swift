internal import CNghttp2
package import HTTP

extension Session {
  /// Answers a request. With `endOfStream` the fields are all there is; else the body comes through
  /// ``send(on:_:)`` and ends with ``finish(_:trailers:)``.
  package func respond(on id: StreamID, _ fields: HeaderFields, endOfStream: Bool) {
    withNameValues(fields) { list, count in
      if endOfStream {
        _ = nghttp2_submit_response(session, id.rawValue, list, count, nil)
      } else {
        var body = bodySource()
        _ = nghttp2_submit_response(session, id.rawValue, list, count, &body)
      }
    }
  }

  /// Tells the peer that the connection will end: it should open no more streams, and those that are
  /// on the way are still served (RFC 9113, section 6.8). ``finishGoAway()`` follows a round trip later.
  package func announceGoAway() {
    _ = nghttp2_submit_shutdown_notice(session)
  }

  /// Refuses every stream from now on; those that are open go on to their end.
  package func finishGoAway() {
    let last = nghttp2_session_get_last_proc_stream_id(session)
    _ = nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, ErrorCode.noError.rawValue, nil, 0)
  }
}
