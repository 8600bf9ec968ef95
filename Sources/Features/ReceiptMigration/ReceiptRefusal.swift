package import AppStore
package import Ledger
package import SignedData
package import Store

/// Why a receipt can never be migrated as it is.
package enum ReceiptRefusal: Error, Hashable, Sendable {
  /// Neither a receipt nor a number.
  case empty
  /// It is no receipt at all.
  case unrecognized(UnrecognizedDocument)
  /// It is not Apple's, or not for this app.
  case notVerified(VerificationError)
  /// It is a document of Apple's, but no receipt.
  case otherDocument
  /// From before iOS 7: nobody can verify it, and the policy allows nothing else.
  case uncheckable
  /// StoreKit testing numbers everything 0: that stands for no purchase at Apple.
  case transactionIDZero
  /// It is for another device than the one that was named.
  case wrongDevice
  /// `verifyReceipt` says that it is not genuine.
  case refusedByEndpoint(VerifyReceiptStatus)
  /// The signature and `verifyReceipt` say different things of it.
  case verificationsDisagree(local: String, endpoint: String)
  /// All of its purchases belong to another customer.
  case ownedByAnotherCustomer(originalTransactionIDs: [String])
  /// Apple knows no purchase of this number.
  case unknownToApple(String)
  /// A certificate was revoked.
  case revoked(OnlineCheckError)

  /// A code for machines, such as `BAD_SIGNATURE`.
  package var reason: String {
    switch self {
    case .empty: "EMPTY_DOCUMENT"
    case .unrecognized(let error): error.reason
    case .notVerified(let error): error.reason
    case .otherDocument: "NOT_A_RECEIPT"
    case .uncheckable: "UNCHECKABLE_RECEIPT"
    case .transactionIDZero: "TRANSACTION_ID_ZERO"
    case .wrongDevice: "WRONG_DEVICE"
    case .refusedByEndpoint(let status): "VERIFY_RECEIPT_\(status.rawValue)"
    case .verificationsDisagree: "VERIFICATION_MISMATCH"
    case .ownedByAnotherCustomer: "OWNED_BY_ANOTHER_CUSTOMER"
    case .unknownToApple: "UNKNOWN_TO_APPLE"
    case .revoked(let error): error.reason
    }
  }
}

extension ReceiptRefusal {
  /// Why what arrived is no receipt, told to somebody who handed it in as one.
  init(_ error: UnrecognizedDocument) {
    switch error {
    case .empty: self = .empty
    case .unknown: self = .notVerified(.notBase64)
    default: self = .unrecognized(error)
    }
  }
}

extension ReceiptRefusal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .empty: "there is neither a receipt nor an original transaction id"
    case .unrecognized(let error): error.description
    case .notVerified(let error): error.description
    case .otherDocument: "the document is no app receipt; signed transactions go to SubmitTransaction"
    case .uncheckable:
      "the receipt is from before iOS 7, which nobody can verify; receipts.look_up_unverified lets Apple be "
        + "asked about it"
    case .transactionIDZero: "the transaction id is 0, as in StoreKit testing, and stands for no purchase"
    case .wrongDevice: "the receipt is for another device"
    case .refusedByEndpoint(let status): "verifyReceipt answers \(status.rawValue)"
    case .verificationsDisagree(let local, let endpoint):
      "the signature says \(local), and verifyReceipt says \(endpoint)"
    case .ownedByAnotherCustomer(let lines):
      "the purchases \(lines.joined(separator: ", ")) belong to another customer"
    case .unknownToApple(let number): "Apple knows no transaction \(number)"
    case .revoked(let error): error.description
    }
  }
}

/// Why a receipt was not taken in.
package enum ReceiptError: Error, Hashable, Sendable {
  /// It never will be. It is kept as rejected evidence where there is something to keep.
  case refused(ReceiptRefusal, evidence: EvidenceID?)
  /// It could not be found out now whether it is genuine, or what it stands for; `retryAfter` is a guess.
  case unavailable(reason: String, explanation: String, retryAfter: Duration)
  /// The ledger could not take it in.
  case ledger(LedgerError)
}

extension ReceiptError: CustomStringConvertible {
  /// A code for machines.
  package var reason: String {
    switch self {
    case .refused(let refusal, _): refusal.reason
    case .unavailable(let reason, _, _): reason
    case .ledger(.unknownApp): "UNKNOWN_APP"
    case .ledger(.invalid): "INVALID_FIELD"
    case .ledger(.notVerifiable): "CRYPTOGRAPHY_FAILED"
    case .ledger: "STORE_UNAVAILABLE"
    }
  }

  /// Whether the same receipt may be taken in later.
  package var mayPass: Bool {
    switch self {
    case .refused, .ledger(.unknownApp), .ledger(.invalid): false
    case .unavailable, .ledger: true
    }
  }

  package var description: String {
    switch self {
    case .refused(let refusal, _): refusal.description
    case .unavailable(_, let explanation, _): explanation
    case .ledger(let error): error.description
    }
  }
}
