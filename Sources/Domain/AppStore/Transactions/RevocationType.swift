/// What kind of revocation took a transaction back (Apple's `revocationType`).
package enum RevocationType: OpenCode {
  case refundFull
  case refundProrated
  /// Family Sharing ended for this customer.
  case familyRevoke
  case unrecognized(String)

  package static let known: [RevocationType] = [.refundFull, .refundProrated, .familyRevoke]

  package var rawValue: String {
    switch self {
    case .refundFull: "REFUND_FULL"
    case .refundProrated: "REFUND_PRORATED"
    case .familyRevoke: "FAMILY_REVOKE"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
