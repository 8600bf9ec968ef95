internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Ledger
internal import Metrics
package import Platform
package import Store

/// Looks to it that Apple is asked about what could not be asked when a receipt came.
package struct RefreshWorker: Worker {
  package let name = "receipt_refresh"

  private static let batchSize = 20
  private static let maxPause: Int64 = 6 * 3_600_000
  /// How long one question may take.
  private static let timeout = Duration.seconds(60)

  private let intake: ReceiptIntake
  private let store: any EntitlementStore

  /// A worker for the refreshes that `intake` queued in `store`.
  package init(
    _ intake: ReceiptIntake, store: any EntitlementStore
  ) {
    self.intake = intake
    self.store = store
  }

  /// Goes on until the task is cancelled.
  package func run() async throws {
    let worker = DueWorker(
      store: store, clock: ServiceClock(now: intake.now),
      nextDue: { reader throws(StoreError) in try reader.nextRefresh() },
      process: { () async throws(LedgerError) in try await refreshDue() })
    try await worker.run()
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
