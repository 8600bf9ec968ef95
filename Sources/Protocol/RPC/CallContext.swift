package import HTTP

/// What a handler may know about the call besides its message.
package struct CallContext: Sendable {
  /// The request's header fields as they came.
  package let headers: HeaderFields
  /// How long the caller waits, counted from the arrival of its header fields.
  package let timeout: Timeout?
  /// Whether the message of a unary call was packed on its way.
  package private(set) var messageWasPacked = false
  /// The operator's name of the caller; empty where everybody is let in.
  package private(set) var caller = ""
  /// Whether ``Method/admission`` let the call in.
  package private(set) var isAdmitted = false
  /// Who called, if the caller has identified itself with a certificate.
  package let peer: PeerCertificate?

  package init(headers: HeaderFields, timeout: Timeout?, peer: PeerCertificate? = nil) {
    self.headers = headers
    self.timeout = timeout
    self.peer = peer
  }

  /// The same call, whose message was packed.
  package var packed: CallContext {
    var context = self
    context.messageWasPacked = true
    return context
  }

  /// The same call, of that caller.
  package func called(by caller: String) -> CallContext {
    var context = self
    context.caller = caller
    return context
  }

  /// The same call, let in by ``Method/admission``.
  package var admitted: CallContext {
    var context = self
    context.isAdmitted = true
    return context
  }

  /// The caller's own fields.
  package var metadata: Metadata { Metadata(headers) }
}
