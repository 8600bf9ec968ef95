package import HTTP2

/// What one connection may ask of this process.
package struct TransportLimits: Sendable {
  /// What HTTP/2 bounds: streams, header bytes, windows.
  package var http2 = Limits()
  /// Bytes of one gRPC message, packed or not.
  package var messageBytes = 4 * 1_024 * 1_024
  /// Bytes of the body of a plain HTTP request.
  package var bodyBytes = 4 * 1_024 * 1_024
  /// Bytes of a streaming call that wait for its handler before the caller is slowed down, and bytes
  /// that wait for a caller before the handler is.
  package var streamBacklogBytes = 128 * 1_024

  package init() {}
}
