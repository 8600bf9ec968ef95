internal import AppStore
internal import AppStoreClient
internal import AppleLookup
package import Ledger
internal import Metrics
internal import Platform
package import Store

/// Repeats the lookups that failed when a receipt was ingested, until they succeed or Apple reports that it has no such
/// purchase. The pauses grow from ten seconds to six hours, and are never shorter than the error demands.
package struct RefreshWorker: Worker {
  package let name: String

  /// The number of refreshes that one read fetches.
  private static let batchSize = 20
  /// The longest backoff between two lookups of a receipt, in milliseconds.
  private static let maxPause: Int64 = 6 * 3_600_000
  /// The timeout of each call: the history of a large account takes many calls, and nothing of it is stored before its
  /// last page.
  private static let callTimeout = Duration.seconds(60)

  private let intake: ReceiptIntake
  private let store: any EntitlementStore
  private let clock: ServiceClock

  /// Creates a worker for the refreshes that `intake` queued in `store`, in the environments of `clock`.
  package init(_ intake: ReceiptIntake, store: any EntitlementStore, clock: ServiceClock) {
    self.intake = intake
    self.store = store
    self.clock = clock
    name = clock.name(ofWorker: "receipt_refresh")
  }

  /// Runs until the task is cancelled.
  ///
  /// - Throws: the first ``LedgerError``.
  package func run() async throws {
    let worker = DueWorker(
      name: name, store: store, clock: clock,
      nextDue: { reader throws(StoreError) in try reader.nextRefresh(in: clock.domain) },
      process: { () async throws(LedgerError) in try await processDue() },
      correctTimes: { () async throws(LedgerError) in
        try await intake.ledger.hastenRefreshes(by: clock, maxPause: Self.maxPause)
      })
    try await worker.run()
  }

  /// Looks up the lines that are due, each once: the response to one usually contains the others of its Apple account.
  private func processDue() async throws(LedgerError) {
    let due = try await intake.ledger.dueRefreshes(by: clock, limit: Self.batchSize)
    var refreshed: Set<LineKey> = []
    for (refresh, customerID) in due where !refreshed.contains(refresh.line) {
      guard !Task.isCancelled else { return }
      refreshed.formUnion(try await process(refresh, for: customerID))
    }
  }

  /// Looks up one line and commits the response, or postpones it.
  ///
  /// - Returns: the lines that the responses contain.
  private func process(_ refresh: PendingRefresh, for customerID: String?) async throws(LedgerError)
    -> [LineKey]
  {
    let line = refresh.line
    var request = PurchaseLookup.Request(
      appID: line.appID, environment: line.environment, transactionID: "")
    request.customerID = customerID
    request.priority = .repair
    request.callTimeout = Self.callTimeout
    let history = await PurchaseHistory(
      of: [line.lineID], through: intake.lookup, request)
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

  /// Returns the refresh with its next time: an exponential backoff, or the time that the error demands.
  private func postponed(_ refresh: PendingRefresh, _ failure: LookupError) -> PendingRefresh {
    var refresh = refresh
    refresh.attempts += 1
    refresh.reason = failure.reason
    let backoff: Int64 = 5_000 << min(Int64(refresh.attempts), 12)
    let wait = max(failure.retryAfter.wholeSeconds * 1_000, min(backoff, Self.maxPause))
    refresh.dueAt = clock.now().advanced(byMilliseconds: wait)
    return refresh
  }
}
