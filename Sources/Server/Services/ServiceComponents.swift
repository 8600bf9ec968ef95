package import AppleLookup
package import DeviceCheck
package import Ledger
package import Notifications
package import ReceiptMigration
package import Reconciliation
package import SignedData
package import Store

// The components that a ServiceContext has from its program, grouped by the part of the service that they belong to.

/// The ledger, and the store and the rules that it rests on.
package struct LedgerComponents: Sendable {
  let store: any EntitlementStore
  /// The one write path.
  let ledger: EvidenceLedger
  /// The catalog in force, which a reload replaces.
  let catalog: CurrentCatalog
  /// Verifies documents for inspections and device sync; the ledger has it for all others.
  let verifier: SignedDataVerifier
  /// Decides whether this process executes what writes.
  let leadership: Leadership

  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, catalog: CurrentCatalog,
    verifier: SignedDataVerifier, leadership: Leadership
  ) {
    (self.store, self.ledger, self.catalog) = (store, ledger, catalog)
    (self.verifier, self.leadership) = (verifier, leadership)
  }
}

/// The calls to Apple's servers.
package struct AppleComponents: Sendable {
  /// Fetches purchases from Apple and ingests them.
  let lookup: PurchaseLookup
  /// The clients of Apple's DeviceCheck, by app and environment.
  let deviceCheck: DeviceCheckClients
  /// `nil` if no app requires online checks.
  let onlineChecks: OnlineCheckEnforcer?

  package init(
    lookup: PurchaseLookup, deviceCheck: DeviceCheckClients, onlineChecks: OnlineCheckEnforcer?
  ) {
    (self.lookup, self.deviceCheck, self.onlineChecks) = (lookup, deviceCheck, onlineChecks)
  }
}

/// The ways in which evidence reaches the ledger.
package struct IntakeComponents: Sendable {
  /// Ingests notifications of both versions, from Apple and from relays.
  let notifications: NotificationInbox
  /// Verifies and ingests receipts, and looks their purchases up.
  let receipts: ReceiptIntake
  /// Runs migration jobs; only on the leader.
  let migrations: MigrationJobManager
  /// Runs repairs on request.
  let reconciler: Reconciler

  package init(
    notifications: NotificationInbox, receipts: ReceiptIntake, migrations: MigrationJobManager,
    reconciler: Reconciler
  ) {
    (self.notifications, self.receipts) = (notifications, receipts)
    (self.migrations, self.reconciler) = (migrations, reconciler)
  }
}

/// The streams of entitlement events.
package struct StreamComponents: Sendable {
  /// Shared by all watchers of the process.
  let broadcaster: EventBroadcaster
  /// The number of streams that a caller may have.
  let limit: StreamLimit

  package init(broadcaster: EventBroadcaster, limit: StreamLimit) {
    (self.broadcaster, self.limit) = (broadcaster, limit)
  }
}

/// The state of the process, for StatusService.
package struct StatusComponents: Sendable {
  /// The result of the last checks of the dependencies.
  let monitor: HealthMonitor
  let information: ServiceInformation

  package init(monitor: HealthMonitor, information: ServiceInformation) {
    (self.monitor, self.information) = (monitor, information)
  }
}

/// The records that calls leave in the store after their responses.
package struct RecordBuffers: Sendable {
  /// The audit entries of calls about customers.
  package let auditEntries: RecordBuffer<Store.AuditEntry>
  /// Apple's requests for retention messages, with the answers that they got.
  package let retentionRequests: RecordBuffer<RetentionRequestRecord>

  package init(
    auditEntries: RecordBuffer<Store.AuditEntry>, retentionRequests: RecordBuffer<RetentionRequestRecord>
  ) {
    (self.auditEntries, self.retentionRequests) = (auditEntries, retentionRequests)
  }

  /// Writes the records that wait, as far as the store can be written. The service calls it when it ends; errors are
  /// ignored, because nothing could repeat the write then.
  package func flush() async {
    try? await auditEntries.flush()
    try? await retentionRequests.flush()
  }
}
