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

  /// Creates an event from its parts.
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

/// A committed event.
package struct StoredEvent: Hashable, Sendable {
  /// The position in the commit order of all events, without gaps.
  package let sequence: Int64
  /// The change.
  package let event: NewEvent

  /// Creates an event from its parts.
  package init(sequence: Int64, event: NewEvent) {
    self.sequence = sequence
    self.event = event
  }
}

/// Appends events.
package protocol EventLog {
  /// Appends an event with the next sequence.
  func append(_ event: NewEvent) throws(StoreError) -> StoredEvent
}
