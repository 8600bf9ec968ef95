package import Entitlements
package import FamilySharing
package import SignedData
package import Store

/// Why the ledger did not take something in, in the order in which the questions are asked.
package enum LedgerError: Error, Hashable, Sendable {
  /// The request itself cannot be right; nothing was kept.
  case invalid(field: String, problem: String)
  /// The operator configured no app of that name.
  case unknownApp(String, configured: [String])
  /// Whether the document is Apple's could not be found out. Trying again is safe; nothing was kept.
  case notVerifiable(CryptographyError)
  /// Whether a certificate was revoked had to be asked, and there was no answer. Trying again is safe; nothing was
  /// kept.
  case notChecked(OnlineCheckError)
  /// The document is not to be believed. It is kept as rejected evidence, and changed nothing.
  case rejected(Rejection, evidence: EvidenceID)
  /// The purchase belongs to another customer. What it says was taken in for that one; the customer who
  /// was named got nothing.
  case ownedByAnotherCustomer(originalTransactionID: String)
  /// Nothing is known of the purchase.
  case unknownPurchase(originalTransactionID: String)
  /// The purchase is not the customer's from whom it was to be taken.
  case notTheOwner(originalTransactionID: String)
  /// No link, merge or transfer of this app has that number.
  case unknownTransfer(String)
  /// What a transfer moved was moved again since, or moved back; undoing it would undo that.
  case transferConflict(transfer: String)
  /// No grant of this app has that number.
  case unknownGrant(String)
  /// Seats of this purchase cannot be claimed here.
  case noSeats(SeatCapacity.Problem, originalTransactionID: String)
  /// As many seats are claimed as were bought.
  case noSeatLeft(originalTransactionID: String, bought: Int64, held: Int64)
  /// The customer bought the seats and needs none.
  case alreadyPurchaser(originalTransactionID: String)
  /// The purchase has no claim of that number, or none that is still held.
  case unknownSeat(String)
  /// The seat is another customer's.
  case seatTaken(String)
  /// Nothing is known of the customer.
  case unknownCustomer
  /// The store could not do it; nothing changed.
  case store(StoreError)
}

/// What was wrong with a document.
package enum Rejection: Error, Hashable, Sendable {
  /// It is not Apple's, or not for this app.
  case notVerified(VerificationError)
  /// It is Apple's, but lacks what the rules need.
  case incomplete(FactError)
  /// The renewal info is about another purchase line than the transaction.
  case otherLine
  /// Its certificate was taken back, as its authority says.
  case revoked(OnlineCheckError)

  /// A code for machines, such as `BAD_SIGNATURE`.
  package var reason: String {
    switch self {
    case .notVerified(let error): error.reason
    case .incomplete: "MISSING_FIELD"
    case .otherLine: "OTHER_PURCHASE_LINE"
    case .revoked(let error): error.reason
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
    }
  }
}

extension LedgerError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .invalid(let field, let problem): "\(field) \(problem)"
    case .unknownApp(let id, let configured):
      "there is no app \(id.debugDescription); configured: \(configured.joined(separator: ", "))"
    case .notVerifiable(let error): "the document could not be checked: \(error)"
    case .notChecked(let error): error.description
    case .rejected(let rejection, _): rejection.description
    case .ownedByAnotherCustomer(let line):
      "the purchase \(line) belongs to another customer"
    case .unknownPurchase(let line): "no purchase \(line) is known"
    case .notTheOwner(let line): "the purchase \(line) is not that customer's"
    case .unknownTransfer(let id): "there is no transfer \(id.debugDescription)"
    case .transferConflict(let id): "what transfer \(id) moved was moved again since"
    case .unknownGrant(let id): "there is no grant \(id.debugDescription)"
    case .noSeats(.noSeats, let line): "the purchase \(line) is no subscription with seats"
    case .noSeats(.invitedByApple, let line):
      "Apple invites to the seats of \(line), and each member's own transaction says who has one"
    case .noSeatLeft(let line, let bought, let held):
      "all seats of \(line) are claimed: \(bought) bought, \(held) claimed"
    case .alreadyPurchaser(let line): "the customer bought \(line) and needs no seat of it"
    case .unknownSeat(let id): "there is no seat \(id.debugDescription) of this purchase that is held"
    case .seatTaken(let id): "the seat \(id) is another customer's; unclaim it first"
    case .unknownCustomer: "nothing is known of this customer"
    case .store(let error): error.description
    }
  }
}
