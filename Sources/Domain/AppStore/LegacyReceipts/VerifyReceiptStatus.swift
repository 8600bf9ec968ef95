/// The `status` of a `verifyReceipt` response.
package enum VerifyReceiptStatus: OpenCode {
  /// 0: the receipt is valid.
  case valid
  /// 21000: the request was not a POST.
  case notPosted
  /// No longer sent by Apple.
  case requestNotJSON
  /// The receipt is malformed, or Apple had a temporary problem.
  case malformedOrTemporary
  /// 21003: the receipt could not be authenticated.
  case notAuthenticated
  /// 21004: the shared secret is not that of the app or the account.
  case sharedSecretMismatch
  /// 21005: Apple's server could not provide the receipt; a retry may help.
  case unavailable
  /// The subscription expired; sent only for iOS 6 transaction receipts, which are decoded anyway.
  case expired
  /// Send the receipt to the sandbox instead.
  case sandboxReceiptInProduction
  /// Send the receipt to production instead.
  case productionReceiptInSandbox
  /// 21009: an error inside Apple; a retry may help.
  case internalDataAccess
  /// 21010: the customer's account was not found, or was deleted.
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

  /// Whether it is one of the data access errors with which Apple sends `is_retryable`.
  var hasRetryFlag: Bool { (21100...21199).contains(rawValue) }

  /// Whether the same request may succeed later. For 21100 to 21199 `is_retryable` of the response decides.
  package var isRetryable: Bool {
    switch self {
    case .malformedOrTemporary, .unavailable, .internalDataAccess: true
    case .valid, .notPosted, .requestNotJSON, .notAuthenticated, .sharedSecretMismatch, .expired,
      .sandboxReceiptInProduction, .productionReceiptInSandbox, .accountNotFound, .unrecognized:
      false
    }
  }
}
