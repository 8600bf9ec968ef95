package import AppStore
package import AppStoreClient
package import AppleLookup
package import Ledger
package import SignedData
package import Store

/// The reason why a receipt can never be migrated as it is. The intake stores the document as rejected evidence, and a
/// client should not send it again.
package enum ReceiptRejection: Error, Hashable, Sendable {
  /// Neither a receipt nor a transaction id.
  case empty
  /// The document is no receipt.
  case unrecognized(UnrecognizedDocument)
  /// The receipt failed verification.
  case notVerified(VerificationError)
  /// The document is signed by Apple, but no receipt.
  case otherDocument
  /// A receipt from before iOS 7, which cannot be verified, while the policy does not allow to look it up.
  case notVerifiable
  /// The transaction id is 0, as in StoreKit testing, and identifies no purchase.
  case transactionIDZero
  /// The receipt is for another device than the one given.
  case wrongDevice
  /// `verifyReceipt` returned a status that is final.
  case rejectedByVerifyReceipt(VerifyReceiptStatus)
  /// Local verification and `verifyReceipt` disagree.
  case verificationMismatch(local: String, endpoint: String)
  /// All purchases belong to another customer.
  case ownedByAnotherCustomer(originalTransactionIDs: [String])
  /// The App Store has no purchase with this id.
  case unknownToApple(String)
  /// The App Store has no purchases of these environments, which are for tests.
  case notAtApple([Environment])
  /// A signing certificate was revoked.
  case revoked(OnlineCheckError)

  /// The reason code, such as `BAD_SIGNATURE`.
  package var reason: String {
    switch self {
    case .empty: "EMPTY_DOCUMENT"
    case .unrecognized(let error): error.reason
    case .notVerified(let error): error.reason
    case .otherDocument: "NOT_A_RECEIPT"
    case .notVerifiable: "NOT_VERIFIABLE"
    case .transactionIDZero: "TRANSACTION_ID_ZERO"
    case .wrongDevice: "WRONG_DEVICE"
    case .rejectedByVerifyReceipt(let status): "VERIFY_RECEIPT_\(status.rawValue)"
    case .verificationMismatch: "VERIFICATION_MISMATCH"
    case .ownedByAnotherCustomer: "OWNED_BY_ANOTHER_CUSTOMER"
    case .unknownToApple, .notAtApple: "UNKNOWN_TO_APPLE"
    case .revoked(let error): error.reason
    }
  }

  /// The rejection of a document that was submitted as a receipt.
  init(_ error: UnrecognizedDocument) {
    switch error {
    case .empty: self = .empty
    default: self = .unrecognized(error)
    }
  }
}

extension ReceiptRejection: CustomStringConvertible {
  package var description: String {
    switch self {
    case .empty: "neither a receipt nor an original transaction id given"
    case .unrecognized(let error): error.description
    case .notVerified(let error): error.description
    case .otherDocument: "the document is no app receipt; submit signed transactions with SubmitTransaction"
    case .notVerifiable:
      "receipts from before iOS 7 cannot be verified; set receipts.look_up_unverified to look them up"
    case .transactionIDZero: "the transaction id is 0, as in StoreKit testing, and identifies no purchase"
    case .wrongDevice: "the receipt is for another device"
    case .rejectedByVerifyReceipt(let status): "verifyReceipt returned the status \(status.rawValue)"
    case .verificationMismatch(let local, let endpoint):
      "local verification returned \(local), but verifyReceipt \(endpoint)"
    case .ownedByAnotherCustomer(let lines):
      "the purchases \(lines.joined(separator: ", ")) belong to another customer"
    case .unknownToApple(let id): "the App Store has no transaction '\(id)'"
    case .notAtApple(let environments):
      "the App Store has no purchases of \(environments.map(\.rawValue).joined(separator: " and ")), "
        + "so an id cannot be looked up"
    case .revoked(let error): error.description
    }
  }
}

/// The reason why a call of `verifyReceipt` returned no verdict. The receipt may be accepted later.
package enum VerifyReceiptError: Error, Hashable, Sendable {
  /// The call to `verifyReceipt` failed.
  case callFailed(AppStoreClientError)
  /// Status 21004: the configured shared secret is not the app's, so that each receipt of the app fails until it is
  /// corrected.
  case sharedSecretMismatch
  /// A status that may change with a later attempt.
  case temporaryStatus(VerifyReceiptStatus)
  /// Apple's response has no `status`.
  case missingStatus

  /// The reason code.
  var reason: String {
    switch self {
    case .callFailed, .missingStatus: "VERIFY_RECEIPT_UNAVAILABLE"
    case .sharedSecretMismatch: "VERIFY_RECEIPT_21004"
    case .temporaryStatus(let status): "VERIFY_RECEIPT_\(status.rawValue)"
    }
  }

  /// The time after which a retry may succeed: that which Apple demands, ten minutes for a wrong secret, otherwise a
  /// minute.
  var retryAfter: Duration {
    switch self {
    case .callFailed(let error): error.retryAfter ?? .seconds(60)
    case .sharedSecretMismatch: .seconds(600)
    case .temporaryStatus, .missingStatus: .seconds(60)
    }
  }
}

extension VerifyReceiptError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .callFailed(let error): error.description
    case .sharedSecretMismatch: "verifyReceipt rejected the app's shared_secret"
    case .temporaryStatus(let status): "verifyReceipt returned the temporary status \(status.rawValue)"
    case .missingStatus: "the verifyReceipt response has no status"
    }
  }
}

/// The reason why a receipt was not ingested. ``isRetryable`` separates what the sender must change from what time may
/// change.
package enum ReceiptError: Error, Hashable, Sendable {
  /// The receipt will never be accepted; `evidence` is its rejected evidence, if it was a document.
  case rejected(ReceiptRejection, evidence: EvidenceID?)
  /// A transaction id without a receipt could not be looked up.
  case lookupFailed(LookupError)
  /// `verifyReceipt` returned no verdict.
  case verifyReceiptFailed(VerifyReceiptError)
  /// The certificate authority did not answer the online check.
  case onlineCheckFailed(OnlineCheckError)
  /// The calling task was cancelled.
  case cancelled
  /// The ledger rejected the documents, or its store failed.
  case ledger(LedgerError)
}

extension ReceiptError: CustomStringConvertible {
  /// The reason code.
  package var reason: String {
    switch self {
    case .rejected(let rejection, _): rejection.reason
    case .lookupFailed(let error): error.reason
    case .verifyReceiptFailed(let error): error.reason
    case .onlineCheckFailed(let error): error.reason
    case .cancelled: "CANCELLED"
    case .ledger(.unknownApp): "UNKNOWN_APP"
    case .ledger(.invalid): "INVALID_FIELD"
    case .ledger(.notVerifiable): "CRYPTOGRAPHY_FAILED"
    case .ledger: "STORE_UNAVAILABLE"
    }
  }

  /// Whether the same receipt may be accepted later.
  package var isRetryable: Bool {
    switch self {
    case .rejected, .ledger(.unknownApp), .ledger(.invalid): false
    case .lookupFailed, .verifyReceiptFailed, .onlineCheckFailed, .cancelled, .ledger: true
    }
  }

  /// An estimate of the time after which a retry may succeed.
  package var retryAfter: Duration {
    switch self {
    case .lookupFailed(let error): error.retryAfter
    case .verifyReceiptFailed(let error): error.retryAfter
    case .onlineCheckFailed(.unavailable(_, let milliseconds)): .milliseconds(milliseconds)
    case .cancelled: .zero
    case .rejected, .onlineCheckFailed, .ledger: .seconds(1)
    }
  }

  package var description: String {
    switch self {
    case .rejected(let rejection, _): rejection.description
    case .lookupFailed(let error): error.description
    case .verifyReceiptFailed(let error): error.description
    case .onlineCheckFailed(let error): error.description
    case .cancelled: "cancelled"
    case .ledger(let error): error.description
    }
  }
}
