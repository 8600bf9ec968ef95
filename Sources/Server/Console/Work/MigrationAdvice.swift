internal import Pages
internal import Wire

extension MigrationFailure {
  /// What a person does about the failure.
  var advice: String {
    switch reason {
    case "NO_IN_APP_PURCHASE_KEY": Text.adviceKey
    case _ where outcome == .retryable: Text.adviceRetry
    case "OWNED_BY_ANOTHER_CUSTOMER": Text.adviceOwned
    case "NOT_BASE64", "NOT_A_RECEIPT", "EMPTY_DOCUMENT", "MALFORMED_LINE": Text.adviceExport
    case "WRONG_BUNDLE", "WRONG_APP", "WRONG_ENVIRONMENT": Text.adviceOtherApp
    case "XCODE_NOT_ALLOWED", "TRANSACTION_ID_ZERO": Text.adviceTestPurchase
    case "NOT_VERIFIABLE": Text.adviceOldReceipt
    case "UNKNOWN_TO_APPLE": Text.adviceUnknown
    case "INVALID_FIELD": Text.adviceField
    case "BAD_SIGNATURE", "UNTRUSTED_ROOT", "MISSING_MARKER_OID", "VERIFICATION_MISMATCH": Text.adviceForged
    case _ where reason.hasPrefix("VERIFY_RECEIPT_"): Text.adviceForged
    default: Text.adviceOther
    }
  }
}
