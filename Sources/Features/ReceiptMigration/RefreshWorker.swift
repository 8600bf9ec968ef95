internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Ledger
internal import Metrics
package import Store

/// Looks to it that Apple is asked about what could not be asked when a receipt came.
package struct RefreshWorker: Sendable {
  private static let batchSize = 20
  private static let maxPause: Int64 = 6 * 3_600_000
  /// How long one question may take.
  private static let timeout = Duration.seconds(60)

  private let intake: ReceiptIntake
  private let store: any EntitlementStore
  private let report: @Sendable (String) -> Void

  /// Follows what `intake` queued in `store`. `report` is told what went wrong; it is tried again later.
  package init(
    _ intake: ReceiptIntake, store: any EntitlementStore, report: @escaping @Sendable (String) -> Void
  ) {
    self.intake = intake
    self.store = store
    self.report = report
  }

  /// Goes on until the task is cancelled.
  package func run() async {
    let follower = DueWorker(
      store: store, clock: ServiceClock(now: intake.now),
      nextDue: { reader throws(StoreError) in try reader.nextRefresh() },
      process: { () async throws(LedgerError) in try await refreshDue() },
      onError: { [report] in report("what is to be asked about receipts could not be kept: \($0)") })
    await follower.run()
  }

  private func refreshDue() async throws(LedgerError) {
    let due = try await intake.ledger.dueRefreshes(limit: Self.batchSize)
    var asked: Set<LineKey> = []
    for (refresh, customerID) in due where !asked.contains(refresh.line) {
      guard !Task.isCancelled else { return }
      asked.formUnion(try await ask(refresh, for: customerID))
    }
  }

  /// - Returns: the lines that Apple told of.
  private func ask(_ refresh: PendingRefresh, for customerID: String?) async throws(LedgerError) -> [LineKey]
  {
    let line = refresh.line
    var question = PurchaseLookup.Request(
      appID: line.appID, environment: line.environment, transactionID: "")
    question.customerID = customerID
    question.priority = .repair
    question.timeout = Self.timeout
    let history = await PurchaseHistory(
      of: [line.originalTransactionID], through: intake.lookup, question)
    Counter(
      label: "entitled_receipt_refreshes_total",
      dimensions: [("outcome", history.failure?.reason ?? "DONE")]
    ).increment()
    if let failure = history.failure {
      try await intake.ledger.postpone(postponed(refresh, failure))
      return []
    }
    var submission = ReceiptSubmission(
      appID: line.appID, environment: line.environment, customerID: customerID, source: .appStoreServerAPI)
    submission.documents = history.documents
    submission.queriedLines = history.queriedLines.sorted()
    _ = try await intake.ledger.submit(submission)
    return history.queriedLines.map(line.other)
  }

  /// Later each time, by what Apple said and by how often it was in vain.
  private func postponed(_ refresh: PendingRefresh, _ failure: LookupError) -> PendingRefresh {
    var refresh = refresh
    refresh.attempts += 1
    refresh.reason = failure.reason
    let backoff: Int64 = 5_000 << min(Int64(refresh.attempts), 12)
    let wait = max(failure.retryAfter.wholeSeconds * 1_000, min(backoff, Self.maxPause))
    refresh.dueAt = intake.now().advanced(byMilliseconds: wait)
    return refresh
  }
}
