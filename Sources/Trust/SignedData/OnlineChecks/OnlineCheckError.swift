package import AppStore

/// Why a chain does not pass the online checks.
package enum OnlineCheckError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A certificate was taken back by its authority.
  case revoked(certificate: String, at: Instant)
  /// There is no fresh answer. That says nothing about the document; try again after that many milliseconds.
  case unavailable(String, retryAfterMilliseconds: Int64)

  /// A code for machines.
  package var reason: String {
    switch self {
    case .revoked: "REVOKED_CERTIFICATE"
    case .unavailable: "ONLINE_CHECK_UNAVAILABLE"
    }
  }

  package var description: String {
    switch self {
    case .revoked(let certificate, let moment): "the certificate \(certificate) was revoked at \(moment)"
    case .unavailable(let detail, _): "the certificates could not be checked: \(detail)"
    }
  }
}
