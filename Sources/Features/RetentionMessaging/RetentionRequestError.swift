package import SignedData

/// The reason for which a request for a retention message gets no response of the policy. The endpoint answers each
/// with status 400, 403 or 404.
package enum RetentionRequestError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path names no configured app.
  case unknownApp
  /// The body is not Apple's `RealtimeRequestBody`.
  case malformed(String)
  /// The signed payload failed its verification.
  case notVerified(VerificationError)
  /// The request is for another app.
  case otherApp
  /// The signed payload lacks a member that Apple always sends.
  case missingMember(String)
  /// Apple signed it more than a day ago, or its time is more than a day ahead: a copy of an earlier request.
  case tooOld

  /// A stable code.
  package var reason: String {
    switch self {
    case .unknownApp: "UNKNOWN_APP"
    case .malformed: "MALFORMED_MESSAGE"
    case .notVerified(let error): error.reason
    case .otherApp: "OTHER_APP"
    case .missingMember: "MISSING_MEMBER"
    case .tooOld: "TOO_OLD"
    }
  }

  package var description: String {
    switch self {
    case .unknownApp: "unknown app"
    case .malformed(let problem): problem
    case .notVerified(let error): error.description
    case .otherApp: "the request is for another app"
    case .missingMember(let name): "the signed payload has no \(name)"
    case .tooOld: "the time of the signature is more than a day from now"
    }
  }
}
