package import AppStore
package import Entitlements

/// A change of one customer's state that is about to be stored.
package struct NewEvent: Hashable, Sendable {
  /// The customer whose state changed.
  package let customer: CustomerKey
  /// The change.
  package let change: EntitlementChange
  /// The time at which the service recorded it.
  package let recordedAt: Instant
  /// The evidence that caused it; `nil` if it happened without new evidence.
  package let evidenceID: EvidenceID?
  /// The caller that made the change for the operator; otherwise empty.
  package let actor: String
  /// Another customer that the event involves; `nil` if there is none.
  package let counterparty: Counterparty?

  /// Creates an event from its parts.
  package init(
    customer: CustomerKey, change: EntitlementChange, recordedAt: Instant, evidenceID: EvidenceID?,
    actor: String, counterparty: Counterparty? = nil
  ) {
    self.customer = customer
    self.change = change
    self.recordedAt = recordedAt
    self.evidenceID = evidenceID
    self.actor = actor
    self.counterparty = counterparty
  }
}

/// Another customer that an event involves.
package struct Counterparty: Hashable, Sendable {
  /// The relation to the purchase. The raw values are stored and part of the API: never change one.
  package enum Role: String, Hashable, Sendable, CaseIterable {
    /// The owner of a purchase that was claimed without success.
    case owner = "OWNER"
    /// The customer who claimed the purchase without success.
    case claimant = "CLAIMANT"
    /// The customer with whose `appAccountToken` the purchase was made.
    case tokenOwner = "TOKEN_OWNER"
  }

  /// How the customer is related to the purchase.
  package let role: Role
  /// The operator's name for the customer.
  package let customerID: String

  package init(role: Role, customerID: String) {
    self.role = role
    self.customerID = customerID
  }
}

/// A committed event.
package struct StoredEvent: Hashable, Sendable {
  /// The number of the event among those of its app, in commit order: from 1, without gaps.
  package let sequence: Int64
  /// The change.
  package let event: NewEvent
  /// The sealed id of the customer of a `CUSTOMER_ERASED`, while the store has it.
  package let sealedName: [UInt8]?

  /// Creates an event from its parts.
  package init(sequence: Int64, event: NewEvent, sealedName: [UInt8]? = nil) {
    self.sequence = sequence
    self.event = event
    self.sealedName = sealedName
  }
}

/// Appends events.
package protocol EventLog {
  /// Appends an event with the next sequence of its app.
  func append(_ event: NewEvent) throws(StoreError) -> StoredEvent
}
