/// Why Apple refunded a transaction or took it back (Apple's `revocationReason`).
package enum RevocationReason: OpenCode {
  case other
  /// An actual or perceived issue with the app.
  case appIssue
  case unrecognized(Int64)

  package static let known: [RevocationReason] = [.other, .appIssue]

  package var rawValue: Int64 {
    switch self {
    case .other: 0
    case .appIssue: 1
    case .unrecognized(let rawValue): rawValue
    }
  }
}
