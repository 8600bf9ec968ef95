internal import AppStore
package import Entitlements
internal import Ledger
package import Store
package import Wire

// Events as messages of the contract.

extension Wire.EntitlementEvent {
  /// A committed event; `app` is the current definition of the app.
  package init(_ stored: StoredEvent, in app: AppDefinition) {
    self.init()
    let (event, change) = (stored.event, stored.event.change)
    sequence = stored.sequence
    self.app = event.customer.appID
    environment = Wire.Environment(event.customer.environment)
    customerId = event.customer.customerID
    entitlement = change.entitlement
    type = change.kind.rawValue
    explanation = change.kind.sentence
    before = .init(change.before, of: event, in: app)
    after = .init(change.after, of: event, in: app)
    effectiveAt = GoogleProtobuf.Timestamp(change.effectiveAt)
    recordedAt = GoogleProtobuf.Timestamp(event.recordedAt)
    evidenceId = event.evidenceID?.rawValue ?? 0
    let deciding = change.after.deciding ?? change.before.deciding
    transactionId = deciding?.transactionID ?? ""
    originalTransactionId = deciding?.originalTransactionID ?? ""
    actor = event.actor
  }
}

extension CheckResponse {
  fileprivate init(_ status: EntitlementStatus, of event: NewEvent, in app: AppDefinition) {
    self.init(
      status, of: event.change.entitlement, in: app, environment: event.customer.environment,
      evaluatedAt: event.change.effectiveAt)
  }
}

extension CommandResult {
  /// The events of the command. Events of a dry run have no sequence and no evidence.
  func events(in app: AppDefinition, isDryRun: Bool) -> [Wire.EntitlementEvent] {
    events.map { stored in
      var event = Wire.EntitlementEvent(stored, in: app)
      if isDryRun {
        event.sequence = 0
        event.evidenceId = 0
      }
      return event
    }
  }
}
