package import Entitlements
package import FamilySharing
package import SignedData
package import Store

/// The reason why the ledger rejected a request, in the order of the checks.
package enum LedgerError: Error, Hashable, Sendable {
  /// A field of the request is invalid; nothing was stored.
  case invalid(field: String, problem: String)
  /// The catalog has no app of that name.
  case unknownApp(String, configured: [String])
  /// OpenSSL failed, so the document could not be verified. A retry is safe; nothing was stored.
  case notVerifiable(CryptographyError)
  /// The required online check of a certificate got no response. A retry is safe; nothing was stored.
  case notChecked(OnlineCheckError)
  /// The document does not verify. It is stored as rejected evidence and changed nothing.
  case rejected(Rejection, evidence: EvidenceID)
  /// The purchase belongs to another customer. Its facts were stored for that one; the claim failed.
  case ownedByAnotherCustomer(originalTransactionID: String)
  /// The app install belongs to another customer. Its facts were stored for that one; the claim failed.
  case installOfAnotherCustomer
  /// There are no facts of the purchase.
  case unknownPurchase(originalTransactionID: String)
  /// The customer to move the purchase from does not own it.
  case notTheOwner(originalTransactionID: String)
  /// No link, merge or transfer of this app has that id.
  case unknownTransfer(String)
  /// A line of the transfer was moved again or moved back since; undoing the transfer would undo that.
  case transferConflict(transfer: String)
  /// No grant of this app has that id.
  case unknownGrant(String)
  /// The app has no note with this id, and never had.
  case unknownNote(String)
  /// The grant is a purchase in another store, which ends with a newer revision.
  case externalGrant(String)
  /// Another state of the purchase in another store has that revision.
  case revisionConflict(source: String, externalID: String, revision: Int64)
  /// The purchase has no seats, or Apple manages them.
  case noSeats(SeatCapacity.Problem, originalTransactionID: String)
  /// All seats that were bought are claimed.
  case noSeatLeft(originalTransactionID: String, bought: Int64, held: Int64)
  /// The customer is the purchaser and needs no seat.
  case alreadyPurchaser(originalTransactionID: String)
  /// The purchase has no seat of that id, or it was released.
  case unknownSeat(String)
  /// The seat has another holder.
  case seatTaken(String)
  /// No consumable purchase of that transaction is stored.
  case unknownConsumable(String)
  /// Nothing is to be delivered or taken back; `fulfillment` is the id of the last acknowledgement.
  case alreadyFulfilled(transaction: String, fulfillment: String)
  /// The `appAccountToken` is bound to another customer.
  case tokenOfAnotherCustomer
  /// A saved segment of that name has another filter.
  case segmentExists(String)
  /// The app environment has ``EvidenceLedger/maxSegments`` saved segments.
  case tooManySegments
  /// There is no saved segment of that name.
  case unknownSegment(String)
  /// The configuration defines the segment.
  case configuredSegment(String)
  /// There are no facts and no evidence of the customer.
  case unknownCustomer
  /// The caller used the idempotency key for another request in the last 30 days.
  case idempotencyKeyReused
  /// The request was executed; its response was removed, because a customer that it names was erased since.
  case responseErased
  /// The sender posted too many documents that do not verify; this one was not stored either.
  case tooManyRejections(retryAfterMilliseconds: Int64)
  /// The store failed; nothing changed.
  case store(StoreError)
}

/// The reason why a document was rejected.
package enum Rejection: Error, Hashable, Sendable {
  /// The signature is not Apple's, or the document is for another app.
  case notVerified(VerificationError)
  /// A field that the rules need is missing, or the purchase has no id.
  case incomplete(FactError)
  /// The renewal info is about another purchase than the transaction.
  case otherLine
  /// Its certificate was revoked.
  case revoked(OnlineCheckError)
  /// The document has no format in which Apple signs.
  case unrecognized(UnrecognizedDocument)

  /// The reason code, such as `BAD_SIGNATURE`.
  package var reason: String {
    switch self {
    case .notVerified(let error): error.reason
    case .incomplete(let error): error.reason
    case .otherLine: "OTHER_PURCHASE_LINE"
    case .revoked(let error): error.reason
    case .unrecognized(let error): error.reason
    }
  }
}

extension Rejection: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notVerified(let error): error.description
    case .incomplete(let error): error.description
    case .otherLine: "the renewal info and the transaction have different original transaction ids"
    case .revoked(let error): error.description
    case .unrecognized(let error): error.description
    }
  }
}

extension LedgerError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .invalid(let field, let problem): "\(field) \(problem)"
    case .unknownApp(let id, let configured):
      "unknown app '\(id)'; configured: \(configured.joined(separator: ", "))"
    case .notVerifiable(let error): "verification failed: \(error); retry"
    case .notChecked(let error): error.description
    case .rejected(let rejection, _): rejection.description
    case .ownedByAnotherCustomer(let line): "the purchase '\(line)' belongs to another customer"
    case .installOfAnotherCustomer: "the app install of this app transaction belongs to another customer"
    case .unknownPurchase(let line): "unknown purchase '\(line)'"
    case .notTheOwner(let line): "the customer does not own the purchase '\(line)'"
    case .unknownTransfer(let id): "unknown transfer '\(id)'"
    case .transferConflict(let id): "a line of the transfer '\(id)' was moved again since"
    case .unknownGrant(let id): "unknown grant '\(id)'"
    case .unknownNote(let id): "unknown note '\(id)'"
    case .externalGrant(let id):
      "the grant '\(id)' is a purchase in another store; end it with a newer revision"
    case .revisionConflict(let source, let id, let revision):
      "revision \(revision) of the \(source) purchase '\(id)' was recorded with other contents"
    case .noSeats(.noSeats, let line): "the purchase '\(line)' has no seats"
    case .noSeats(.invitedByApple, let line):
      "Apple manages the seats of '\(line)'; each member has an own transaction"
    case .noSeatLeft(let line, let bought, let held):
      "all seats of \(line) are claimed: \(bought) bought, \(held) claimed"
    case .alreadyPurchaser(let line): "the customer is the purchaser of '\(line)' and needs no seat"
    case .unknownSeat(let id): "the purchase has no held seat '\(id)'"
    case .seatTaken(let id): "the seat '\(id)' has another holder; release it first"
    case .unknownConsumable(let id): "no consumable purchase with the transaction '\(id)' is stored"
    case .alreadyFulfilled(let id, let last):
      "the transaction '\(id)' has no units to deliver or take back; last acknowledged as '\(last)'"
    case .segmentExists(let name): "the app has a segment '\(name)' with another filter"
    case .tooManySegments:
      "the app has \(EvidenceLedger.maxSegments) saved segments in this environment already"
    case .unknownSegment(let name): "the app has no segment '\(name)' in this environment"
    case .configuredSegment(let name): "the configuration defines the segment '\(name)'; remove it there"
    case .tokenOfAnotherCustomer: "the app account token is registered for another customer"
    case .unknownCustomer: "unknown customer"
    case .idempotencyKeyReused: "the idempotency key was used for another request"
    case .responseErased:
      "a request with this idempotency key was executed; its response was removed with an erased customer"
    case .tooManyRejections: "too many documents of this sender do not verify"
    case .store(let error): error.description
    }
  }
}
