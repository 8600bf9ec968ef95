package import AppStore
package import Store

/// A notification as it arrived.
package struct IncomingNotification: Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// The body, byte for byte.
  package let body: [UInt8]
  /// The way by which it arrived.
  package let source: Evidence.Source
  /// When a relay received it, or it arrived the first time; `nil`: when it is written, by the clock of its
  /// environment. A time that has not come counts as now.
  package let receivedAt: Instant?
  /// The statement of another replica that the signatures are valid, from ``EvidenceLedger/seal(_:for:)``.
  package var seal: [UInt8]?
  /// Counts a rejection of this sender, and returns the milliseconds that it has to wait; `nil` if the rejection may be
  /// stored.
  package var rejectionDelay: @Sendable () -> Int64? = { nil }
  /// Runs in the transaction that stores an authentic notification of version 2;
  /// see ``ReceivedNotification/includesExtra``.
  package var extra: (@Sendable (any StoreTransaction) throws(StoreError) -> Void)?

  /// Creates a notification; its body is stored even if it does not verify.
  package init(appID: String, body: [UInt8], source: Evidence.Source, receivedAt: Instant? = nil) {
    self.appID = appID
    self.body = body
    self.source = source
    self.receivedAt = receivedAt
  }
}

/// The result of a notification. It is durable.
package struct ReceivedNotification: Sendable {
  /// The stored record with its state and reason code.
  package let record: NotificationRecord
  /// Whether it was stored before, so that nothing changed.
  package let isDuplicate: Bool
  /// The owner of the purchase; `nil` while it is unclaimed, and for a notification about no purchase.
  package let customerID: String?
  /// The reason of the rejection for people; empty if it was accepted.
  package var problem = ""
  /// Whether ``IncomingNotification/extra`` was committed with it.
  package var includesExtra = false
}

extension IncomingNotification {
  /// The notification as evidence of a write at `now`; `content` is that of its body.
  func evidence(
    _ kind: Evidence.Kind, _ content: EvidenceContent, in environment: Environment?,
    _ verdict: Evidence.Verdict, at now: Instant
  ) -> Evidence {
    var evidence = Evidence(
      appID: appID, environment: environment, customerID: nil, kind: kind, source: source,
      receivedAt: min(receivedAt ?? now, now), content: content, verdict: verdict)
    evidence.recordedAt = now
    return evidence
  }
}
