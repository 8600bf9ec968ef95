internal import SignedData

/// Why a call is not let in. No case carries anything of a token.
package enum CallerError: Error, Hashable, Sendable {
  /// Neither a token nor a certificate came with the call.
  case noCredential
  /// There is an `authorization` field, and it is not `Bearer` and a token.
  case notABearer
  case unknownToken
  /// A token of the issuer's kind that is not to be believed.
  case badToken(reason: String)
  /// The certificate is good, and none of its names is a caller's.
  case unknownCertificate
  case roleMissing(caller: String, needed: Role)
  case appNotAllowed(caller: String, app: String)
  /// The call is about no single app, and the caller may ask about some only.
  case needsAllApps(caller: String)
  case rateLimited(caller: String, retryAfterMilliseconds: Int64)
}

extension CallerError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noCredential: "this call needs a bearer token in the field 'authorization', or a client certificate"
    case .notABearer: "the field 'authorization' is not 'Bearer' and a token"
    case .unknownToken: "the bearer token is not one that was given out"
    case .badToken(let reason): "the bearer token cannot be believed: \(reason)"
    case .unknownCertificate: "no name in the client certificate is a caller's"
    case .roleMissing(let caller, let needed): "the caller '\(caller)' has not the role \(needed.rawValue)"
    case .appNotAllowed(let caller, let app): "the caller '\(caller)' may not ask about the app '\(app)'"
    case .needsAllApps(let caller):
      "the caller '\(caller)' may ask about some apps only, and this call is not about one app"
    case .rateLimited(let caller, _): "the caller '\(caller)' calls more often than it may"
    }
  }
}
