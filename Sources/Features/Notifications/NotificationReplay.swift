internal import AppStore
package import Ledger
package import Store

/// Interprets kept notifications again: those of types that were not known when they came, and those that were
/// not believed then.
package struct NotificationReprocessor: Sendable {
  private let inbox: NotificationInbox
  private let isDryRun: Bool

  /// What became of a notification.
  package struct Outcome: Sendable {
    /// As it is now.
    package let record: NotificationRecord
    /// Whether its state or its meaning is another one than before.
    package let isChanged: Bool
  }

  /// A replay through `inbox`; in a dry run nothing changes, and Apple is not asked.
  package init(inbox: NotificationInbox, isDryRun: Bool) {
    self.inbox = inbox
    self.isDryRun = isDryRun
  }

  /// Interprets one again. What is believed now and was not before arrives anew beside what was refused, which
  /// stays as it is; so a second time changes nothing.
  ///
  /// - `evidence`: its body as it was kept.
  package func run(
    _ record: NotificationRecord, _ evidence: StoredEvidence
  ) async throws(LedgerError) -> Outcome {
    switch record.state {
    case .applied, .superseded, .unsupported:
      guard let (before, after) = try await inbox.ledger.reprocess(record.evidenceID, isDryRun: isDryRun)
      else { return Outcome(record: record, isChanged: false) }
      return Outcome(
        record: after, isChanged: before.state != after.state || before.meaning != after.meaning)
    case .rejected, .unconfirmed: return try await takeAgain(record, evidence.evidence)
    }
  }

  private func takeAgain(
    _ record: NotificationRecord, _ evidence: Evidence
  ) async throws(LedgerError) -> Outcome {
    guard let body = evidence.content.body else { return Outcome(record: record, isChanged: false) }
    if isDryRun {
      guard case .signed(let payload) = NotificationBody(body) else {
        return Outcome(record: record, isChanged: false)
      }
      return Outcome(
        record: record,
        isChanged: try inbox.ledger.wouldVerify(signedPayload: payload, of: record.appID))
    }
    let received = try await inbox.ingest(
      IncomingNotification(
        appID: record.appID, body: body, source: evidence.source, receivedAt: record.receivedAt))
    let isChanged = !received.isDuplicate && received.record.state != record.state
    return Outcome(record: received.record, isChanged: isChanged)
  }
}
