internal import SignedData

/// The reason a call is not authenticated or not authorized. No case contains a token; of a verified one, claims.
package enum CallerError: Error, Hashable, Sendable {
  /// The call has neither a token nor a client certificate.
  case noCredential
  /// The `authorization` field is not `Bearer` and a token.
  case notABearer
  /// The token is not configured, and no issuer signed it.
  case unknownToken
  /// The token is valid, but its subject is not configured and has no role in the claim `rolesClaim`; `nil`: no claim has
  /// roles.
  case unknownSubject(String, rolesClaim: String?)
  /// A signed token that is invalid.
  case badToken(reason: String)
  /// A signed token that is not verified, because the network of its sender has sent too many invalid ones. The delay
  /// is the time until the next token of the network is verified.
  case tooManyBadTokens(retryAfterMilliseconds: Int64)
  /// The certificate is valid, but none of its names belongs to a caller.
  case unknownCertificate
  /// The caller lacks the role of the method.
  case roleMissing(caller: String, needed: Role)
  /// The request names an app that the caller may not access.
  case appNotAllowed(caller: String, app: String)
  /// The method covers all apps, and the caller is limited to some.
  case needsAllApps(caller: String)
  /// The token bucket of the caller is empty; the next call is within the limit after this time.
  case rateLimited(caller: String, retryAfterMilliseconds: Int64)
}

extension CallerError: CustomStringConvertible {
  /// The message of the status that the caller gets. It names the remedy where an operator or the caller has one.
  package var description: String {
    switch self {
    case .noCredential:
      "missing credential; send a bearer token in 'authorization' or use a client certificate"
    case .notABearer: "malformed 'authorization': expected 'Bearer' and a token"
    case .unknownToken:
      "unknown bearer token; its hash ('entitled token hash') is in the tokens of no configured caller"
    case .unknownSubject(let subject, let rolesClaim):
      "the bearer token is valid, but its subject '\(subject.prefix(100))' is in the subjects of no configured caller"
        + (rolesClaim.map { ", and its claim '\($0)' has no role" } ?? "")
    case .badToken(let reason): "invalid bearer token: \(reason)"
    case .tooManyBadTokens: "too many invalid bearer tokens from this address; retry later"
    case .unknownCertificate: "unknown client certificate: none of its names belongs to a caller"
    case .roleMissing(let caller, let needed):
      "caller '\(caller)' lacks the role '\(needed.rawValue)'; an operator can add it to the roles of the caller"
    case .appNotAllowed(let caller, let app):
      "caller '\(caller)' may not access the app '\(app)'; an operator can add it to the apps of the caller"
    case .needsAllApps(let caller):
      "caller '\(caller)' may access some apps only, and this call covers all apps"
    case .rateLimited(let caller, _): "caller '\(caller)' exceeds its rate limit"
    }
  }
}
