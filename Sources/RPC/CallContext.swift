package import HTTP

/// What a handler may know about the call besides its message.
package struct CallContext: Sendable {
  /// The request's header fields as they came.
  package let headers: HeaderFields
  /// How long the caller waits, counted from the arrival of its header fields.
  package let timeout: Timeout?
  /// Whether the message of a unary call was packed on its way.
  package var messageWasPacked = false
  /// The operator's name of the caller; empty where everybody is let in.
  package var caller = ""
  /// Who called, if the caller has identified itself with a certificate.
  package let peer: PeerCertificate?

  package init(headers: HeaderFields, timeout: Timeout?, peer: PeerCertificate? = nil) {
    self.headers = headers
    self.timeout = timeout
    self.peer = peer
  }

  /// The caller's own fields.
  package var metadata: Metadata { Metadata(headers) }
}
