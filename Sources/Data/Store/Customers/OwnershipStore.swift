package import AppStore
package import Entitlements
package import FamilySharing

/// The linking of a line to a customer, or its end.
package struct OwnershipChange: Hashable, Sendable {
  /// The purchase, grant, seat or app install.
  package let line: LineKey
  /// The new or the former owner.
  package let customerID: String
  /// Whether the line was linked; otherwise it was unlinked.
  package let gained: Bool
  /// The time of the change by the service's clock.
  package let at: Instant
  /// The evidence that caused it.
  package let evidenceID: EvidenceID

  /// Creates a change from its parts.
  package init(line: LineKey, customerID: String, gained: Bool, at: Instant, evidenceID: EvidenceID) {
    self.line = line
    self.customerID = customerID
    self.gained = gained
    self.at = at
    self.evidenceID = evidenceID
  }
}

/// The reads that decide about one line, the same in a snapshot and in a transaction.
package protocol LineReader {
  /// Returns the owners of a line, the longest-standing first; none if it is unclaimed. More than one only if
  /// the line is shared.
  func owners(of line: LineKey) throws(StoreError) -> [String]

  /// Returns all facts about one line, whether it is claimed or not.
  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts

  /// Returns the customer that this one was merged into; `nil` if it was not.
  func mergeTarget(of customer: CustomerKey) throws(StoreError) -> String?

  /// Returns the customer that is bound to this `appAccountToken` in lower case; `nil` if none is.
  func customerID(
    ofToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> String?

  /// Returns the lines that were bought through one app install, identified by `appTransactionId`: the
  /// purchases of one Apple account in the app. Transactions signed before Apple introduced that id are not
  /// included.
  func lines(
    ofAppInstall appTransactionID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [LineKey]

  /// Returns the latest decision of the customer or of a customer merged into it; `nil` if there is none.
  func consent(of customer: CustomerKey) throws(StoreError) -> ConsumptionConsent?

  /// Whether anything is stored that names the customer: evidence, a link, a token, a merge or an event.
  func isKnown(_ customer: CustomerKey) throws(StoreError) -> Bool
}

extension LineReader {
  /// Returns the facts about a purchase, and those about the app installs through which it was made: a consent is
  /// withdrawn for an app install.
  package func factsWithAppInstalls(of purchase: LineKey) throws(StoreError) -> CustomerFacts {
    try withAppInstalls(facts(of: purchase), of: purchase)
  }

  /// Returns the facts of a purchase with those about its app installs.
  package func withAppInstalls(
    _ facts: CustomerFacts, of purchase: LineKey
  ) throws(StoreError) -> CustomerFacts {
    var facts = facts
    for install in Set(facts.transactions.compactMap(\.details.appTransactionID)) where !install.isEmpty {
      facts.merge(try self.facts(of: purchase.appInstall(install)))
    }
    return facts
  }

  /// Returns the longest-standing owner of a line; `nil` if it is unclaimed.
  package func owner(of line: LineKey) throws(StoreError) -> String? { try owners(of: line).first }

  /// Follows merges from `customer` to the customer that was not merged into another.
  package func finalMergeTarget(of customer: CustomerKey) throws(StoreError) -> CustomerKey {
    var customer = customer
    // Merging never creates a cycle; the bound protects against a store that something else wrote to.
    for _ in 0..<64 {
      guard let next = try mergeTarget(of: customer) else { return customer }
      customer = CustomerKey(appID: customer.appID, environment: customer.environment, customerID: next)
    }
    return customer
  }

  /// The same for the customer of a filter; `nil` without one.
  package func finalMergeTarget(
    of customerID: String?, in scope: AppEnvironment
  ) throws(StoreError) -> String? {
    guard let customerID else { return nil }
    return try finalMergeTarget(
      of: CustomerKey(appID: scope.appID, environment: scope.environment, customerID: customerID)
    ).customerID
  }
}

/// Stores the owners of each line, and their history.
package protocol OwnershipStore {
  /// Returns all lines of a customer, in no particular order.
  func lines(of customer: CustomerKey) throws(StoreError) -> [LineKey]

  /// Links or unlinks a line and appends that to the history. The customer must not own the line before it is
  /// linked, and must own it before it is unlinked.
  func record(_ change: OwnershipChange) throws(StoreError)

  /// Returns the changes of one customer that one piece of evidence caused, oldest first.
  func ownershipChanges(
    of customer: CustomerKey, by evidence: EvidenceID
  ) throws(StoreError) -> [OwnershipChange]

  /// Returns all customers who own a line or owned it before, in no particular order.
  func formerOwners(of line: LineKey) throws(StoreError) -> [String]
}

/// The token with which an erased customer's purchase waits, whatever token its later documents have. It is in upper case,
/// so it is no customer's.
package let erasedToken = "ERASED"

/// Stores the claim queue, and the `appAccountToken`s and merges that determine the owner of a line.
package protocol ClaimQueue {
  /// Adds a line to the claim queue, where it waits for a customer with its `appAccountToken`, in lower case,
  /// or for an owner of the line that it replaced. Another token replaces that of a line that is there already, but not
  /// ``erasedToken``.
  func enqueue(_ line: LineKey, token: String?, replacing previous: LineKey?) throws(StoreError)

  /// Removes a line from the claim queue, if it is there.
  func dequeue(_ line: LineKey) throws(StoreError)

  /// Returns the queued lines with this token.
  func unclaimedLines(
    withToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [LineKey]

  /// Returns the queued lines that replaced `previous`.
  func unclaimedLines(replacing previous: LineKey) throws(StoreError) -> [LineKey]

  /// Binds the token to the customer, unless it is bound already.
  func register(token: String, for customer: CustomerKey) throws(StoreError)

  /// Stores the merge target of a customer; `nil` undoes the merge.
  func setMergeTarget(_ mergeTarget: String?, of customer: CustomerKey) throws(StoreError)
}

/// Stores the claims of seats. Each seat is a line, so its owner is stored like that of a purchase.
package protocol SeatStore {
  /// Inserts or replaces a claim.
  func put(_ seat: Seat, of purchase: LineKey, from evidence: EvidenceID) throws(StoreError)

  /// Returns all claims of a purchase, oldest first.
  func seats(of purchase: LineKey) throws(StoreError) -> [Seat]

  /// Returns the claim with this line; `nil` if there is none.
  func seat(_ line: LineKey) throws(StoreError) -> Seat?

  /// Returns the claim with Apple's `seatClaimId`; `nil` if there is none.
  func seat(
    claimedAs seatClaimID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> Seat?
}
