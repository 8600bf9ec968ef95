package import AppStore
package import Entitlements

/// One change of one customer's state, as it is about to be remembered.
package struct NewEvent: Hashable, Sendable {
  /// Whose state changed.
  package let customer: CustomerKey
  /// What changed.
  package let change: EntitlementChange
  /// When the service learned it.
  package let recordedAt: Instant
  /// What caused it; `nil` if time alone did.
  package let evidenceID: EvidenceID?
  /// Who did it, if somebody of the operator's did; else empty.
  package let actor: String

  /// An event by its parts.
  package init(
    customer: CustomerKey, change: EntitlementChange, recordedAt: Instant, evidenceID: EvidenceID?,
    actor: String
  ) {
    self.customer = customer
    self.change = change
    self.recordedAt = recordedAt
    self.evidenceID = evidenceID
    self.actor = actor
  }
}

/// An event that was committed.
package struct StoredEvent: Hashable, Sendable {
  /// Its number: one more than that of the event before, whosoever's that is.
  package let sequence: Int64
  /// What happened.
  package let event: NewEvent

  /// An event as it is in the store.
  package init(sequence: Int64, event: NewEvent) {
    self.sequence = sequence
    self.event = event
  }
}

/// Keeps what changed.
package protocol EventLog {
  /// Appends an event with the number after the last one's.
  func append(_ event: NewEvent) throws(StoreError) -> StoredEvent
}
