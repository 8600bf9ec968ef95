internal import CNghttp2

/// nghttp2 refused an operation. The connection that saw it is finished.
package struct HTTP2Error: Error, Equatable, CustomStringConvertible {
  /// A negative `nghttp2_error`; kept as a number so that no C type is visible outside.
  package let code: Int32

  package var description: String { "HTTP/2: \(String(cString: nghttp2_strerror(code)))" }
}

/// Turns nghttp2's "negative is failure" into a throw, in one place.
func check(_ result: CInt) throws(HTTP2Error) {
  guard result >= 0 else { throw HTTP2Error(code: result) }
}
