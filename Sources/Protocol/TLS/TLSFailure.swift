internal import CTLS

/// The reason why a TLS connection, or a context for it, does not work.
package enum TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The peer speaks another protocol.
  case notTLS
  /// The peer's certificate does not lead to a trusted authority, or is not valid now; `reason` is OpenSSL's.
  case untrusted(reason: String)
  /// The peer's certificate is for another host name or address.
  case otherName
  /// The peer ended the connection before the handshake was complete.
  case endedInHandshake
  /// The peer sends records without content, which only cost.
  case withoutContent
  /// The peer changes its key again and again, which only costs.
  case tooManyKeyUpdates
  /// Anything else, such as an alert of the peer; `reason` is OpenSSL's.
  case failed(reason: String)

  package var description: String {
    switch self {
    case .notTLS: "the peer does not use TLS"
    case .untrusted(let reason): "the certificate is not trusted: \(reason)"
    case .otherName: "the certificate is for another host name"
    case .endedInHandshake: "the peer ended the connection during the TLS handshake"
    case .withoutContent: "the peer sends TLS records without content"
    case .tooManyKeyUpdates: "the peer changes its TLS key too often"
    case .failed(let reason): reason
    }
  }
}

/// OpenSSL's error queue of the current thread.
enum TLSErrorQueue {
  /// Empties the queue and returns the oldest error, the cause of the others.
  static func take() -> TLSFailure {
    let code = ERR_get_error()
    ERR_clear_error()
    if ERR_GET_LIB(code) == ERR_LIB_SSL,
      [SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST].contains(
        ERR_GET_REASON(code))
    {
      return .notTLS
    }
    return .failed(reason: ERR_reason_error_string(code).map { String(cString: $0) } ?? "TLS failed")
  }
}
