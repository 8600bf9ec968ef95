package import HTTP

/// The properties of a call besides its messages.
package struct CallContext: Sendable {
  /// The header fields of the request.
  package let headers: HeaderFields
  /// The caller's timeout, from the arrival of the header fields; `nil` for none.
  package let timeout: Timeout?
  /// The client certificate that the transport has verified.
  package let peer: PeerCertificate?
  /// Whether the message of a unary call arrived compressed.
  package var messageWasCompressed = false
  /// The operator's name of the caller; empty if callers are not authenticated.
  package var caller = ""
  /// The roles of the caller as bits, which the layer that authenticates assigns.
  package var callerRoles: UInt8 = 0

  package init(headers: HeaderFields, timeout: Timeout?, peer: PeerCertificate? = nil) {
    self.headers = headers
    self.timeout = timeout
    self.peer = peer
  }

  /// The metadata that the caller attached.
  package var metadata: Metadata { Metadata(headers) }
}
