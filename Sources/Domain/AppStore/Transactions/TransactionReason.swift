/// Why there is a transaction (Apple's `transactionReason`).
package enum TransactionReason: OpenCode {
  /// The customer bought it.
  case purchase
  /// Apple renewed the subscription.
  case renewal
  case unrecognized(String)

  package static let known: [TransactionReason] = [.purchase, .renewal]

  package var rawValue: String {
    switch self {
    case .purchase: "PURCHASE"
    case .renewal: "RENEWAL"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
