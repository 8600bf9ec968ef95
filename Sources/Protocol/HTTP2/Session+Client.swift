internal import CNghttp2
package import HTTP

extension Session {
  /// Opens a stream with a request. With `endOfStream` the fields are all there is; else the body
  /// comes through ``send(on:_:)`` and ends with ``finish(_:trailers:)``.
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
      state.pointee.streams.giveBack(stream)
      throw HTTP2Error(code: id)
    }
    state.pointee.requested[id] = stream
    state.pointee.openStreams += 1
    return StreamID(rawValue: id)
  }
}
