/// What `verifyReceipt` says of a request (Apple's `status`).
package enum VerifyReceiptStatus: OpenCode {
  case valid
  case notPosted
  /// No longer sent by Apple.
  case requestNotJSON
  /// The receipt is malformed, or Apple had a passing problem.
  case malformedOrTemporary
  case notAuthenticated
  case sharedSecretMismatch
  case unavailable
  /// The subscription is over; only for transaction receipts of iOS 6, which are decoded all the same.
  case expired
  /// To be sent to the sandbox instead.
  case sandboxReceiptInProduction
  /// To be sent to production instead.
  case productionReceiptInSandbox
  case internalDataAccess
  case accountNotFound
  case unrecognized(Int64)

  package static let known: [VerifyReceiptStatus] = [
    .valid, .notPosted, .requestNotJSON, .malformedOrTemporary, .notAuthenticated, .sharedSecretMismatch,
    .unavailable, .expired, .sandboxReceiptInProduction, .productionReceiptInSandbox, .internalDataAccess,
    .accountNotFound,
  ]

  package var rawValue: Int64 {
    switch self {
    case .valid: 0
    case .notPosted: 21000
    case .requestNotJSON: 21001
    case .malformedOrTemporary: 21002
    case .notAuthenticated: 21003
    case .sharedSecretMismatch: 21004
    case .unavailable: 21005
    case .expired: 21006
    case .sandboxReceiptInProduction: 21007
    case .productionReceiptInSandbox: 21008
    case .internalDataAccess: 21009
    case .accountNotFound: 21010
    case .unrecognized(let rawValue): rawValue
    }
  }

  /// Whether the same request may succeed later. For 21100 to 21199 the response's `is_retryable` says it.
  package var isRetryable: Bool {
    switch self {
    case .malformedOrTemporary, .unavailable, .internalDataAccess: true
    case .valid, .notPosted, .requestNotJSON, .notAuthenticated, .sharedSecretMismatch, .expired,
      .sandboxReceiptInProduction, .productionReceiptInSandbox, .accountNotFound, .unrecognized:
      false
    }
  }
}
