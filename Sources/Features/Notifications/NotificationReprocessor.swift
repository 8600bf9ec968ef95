internal import AppStore
package import Ledger
package import Store

/// Reprocesses stored notifications after an upgrade or a change of the configuration: decodes those of unsupported
/// types again, and ingests rejected and unconfirmed ones again.
package struct NotificationReprocessor: Sendable {
  private let inbox: NotificationInbox
  private let isDryRun: Bool

  /// One notification after it was decoded again.
  package struct Outcome: Sendable {
    /// The notification as it is stored afterwards; in a dry run, for one that would be ingested again, as it is stored
    /// now.
    package let record: NotificationRecord
    /// Whether its state or meaning has changed.
    package let isChanged: Bool
  }

  /// Creates a reprocessor. A dry run changes nothing and makes no call, so it does not predict the result for
  /// notifications of version 1.
  package init(inbox: NotificationInbox, isDryRun: Bool) {
    self.inbox = inbox
    self.isDryRun = isDryRun
  }

  /// Reprocesses a notification with its stored body. One that was rejected and verifies now is ingested as new
  /// evidence; the rejected evidence stays. Repeating this changes nothing. A notification whose body was purged stays
  /// as it is.
  ///
  /// - Throws: the errors of ``NotificationInbox/ingest(_:)``.
  package func run(
    _ record: NotificationRecord, _ evidence: StoredEvidence
  ) async throws(LedgerError) -> Outcome {
    switch record.state {
    case .applied, .superseded, .unsupported:
      // Verified again: a later version may know the app and the environment that it names.
      guard record.environment != nil else { return try await ingestAgain(record, evidence.evidence) }
      guard let (before, after) = try await inbox.ledger.reprocess(record.evidenceID, isDryRun: isDryRun)
      else { return Outcome(record: record, isChanged: false) }
      return Outcome(
        record: after, isChanged: before.state != after.state || before.meaning != after.meaning)
    case .rejected, .unconfirmed: return try await ingestAgain(record, evidence.evidence)
    }
  }

  /// Passes the stored body through the inbox, with its source and time of arrival.
  private func ingestAgain(
    _ record: NotificationRecord, _ evidence: Evidence
  ) async throws(LedgerError) -> Outcome {
    guard let body = evidence.content.body else { return Outcome(record: record, isChanged: false) }
    if isDryRun {
      guard case .signed(let payload) = NotificationBody(body) else {
        return Outcome(record: record, isChanged: false)
      }
      return Outcome(
        record: record,
        isChanged: try inbox.ledger.wouldChange(record, signedPayload: payload))
    }
    let received = try await inbox.ingest(
      IncomingNotification(
        appID: record.appID, body: body, source: evidence.source, receivedAt: record.receivedAt))
    let isChanged = !received.isDuplicate && received.record.state != record.state
    return Outcome(record: received.record, isChanged: isChanged)
  }
}
