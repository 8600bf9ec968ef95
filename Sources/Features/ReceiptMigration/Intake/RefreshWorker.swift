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
  /// The timeout of each call.
  private static let callTimeout = Duration.seconds(60)

  private let intake: ReceiptIntake
  private let store: any EntitlementStore
  private let clock: ServiceClock
  private let maxResponses: Int

  /// Creates a worker for the refreshes that `intake` queued in `store`, in the environments of `clock`. After
  /// `maxResponses`, at least two, the lookup of a large account waits for the others that are due.
  package init(
    _ intake: ReceiptIntake, store: any EntitlementStore, clock: ServiceClock, maxResponses: Int = 50
  ) {
    self.intake = intake
    self.store = store
    self.clock = clock
    self.maxResponses = maxResponses
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

  /// Looks up one line until the last response, an error or ``maxResponses``, and commits each response. The next attempt
  /// continues after the committed ones.
  ///
  /// - Returns: the lines that the responses contain.
  private func process(
    _ refresh: PendingRefresh, for customerID: String?
  ) async throws(LedgerError) -> Set<LineKey> {
    let request = request(refresh.line, for: customerID)
    var next = refresh
    var lines: Set<LineKey> = []
    do throws(LookupError) {
      var pages = try intake.lookup.pages(request, from: refresh.revision)
      for _ in 0..<maxResponses where !pages.isAtEnd {
        let documents = try await pages.next() ?? []
        do throws(LedgerError) {
          lines.formUnion(try await commit(documents, of: request, isLast: pages.isAtEnd))
        } catch {
          throw .ledger(error)
        }
        next.revision = pages.revision
        if !documents.isEmpty { next.attempts = 0 }
      }
      if pages.isAtEnd {
        count("DONE")
        return lines
      }
    } catch {
      if case .ledger(let error) = error { throw error }
      if error.isUnknownPurchase {
        _ = try await commit([], of: request, isLast: true)
        count("DONE")
      } else {
        count(error.reason)
        try await intake.ledger.postpone(postponed(next, error))
      }
      return lines
    }
    next.dueAt = clock.now()
    try await intake.ledger.postpone(next)
    return lines
  }

  /// Commits the documents of a response. The other lines in it need no lookup of their own, and the line of the request
  /// needs none after the last response.
  private func commit(
    _ documents: [Submission], of request: PurchaseLookup.Request, isLast: Bool
  ) async throws(LedgerError) -> Set<LineKey> {
    var lines = Set(documents.compactMap(\.originalTransactionID))
    var submission = ReceiptSubmission(
      appID: request.appID, environment: request.environment, customerID: request.customerID,
      source: .appStoreServerAPI)
    submission.documents = documents
    lines.remove(request.transactionID)
    if isLast { lines.insert(request.transactionID) }
    submission.queriedLines = lines.sorted()
    _ = try await intake.ledger.submit(submission)
    return Set(
      lines.map { LineKey(appID: request.appID, environment: request.environment, lineID: $0) })
  }

  private func request(_ line: LineKey, for customerID: String?) -> PurchaseLookup.Request {
    var request = PurchaseLookup.Request(
      appID: line.appID, environment: line.environment, transactionID: line.lineID)
    request.customerID = customerID
    request.priority = .repair
    request.callTimeout = Self.callTimeout
    return request
  }

  private func count(_ outcome: String) {
    Counter(label: "entitled_receipt_refreshes_total", dimensions: [("outcome", outcome)]).increment()
  }

  /// Returns the refresh with its next time: an exponential backoff, or the time that the error demands.
  private func postponed(_ refresh: PendingRefresh, _ failure: LookupError) -> PendingRefresh {
    var refresh = refresh
    refresh.attempts += 1
    refresh.reason = failure.reason
    // Apple may have refused the revision.
    if case .appStore(.refused(let code, _)) = failure, !code.isRetryable { refresh.revision = nil }
    let backoff: Int64 = 5_000 << min(Int64(refresh.attempts), 12)
    let wait = max(failure.retryAfter.wholeSeconds * 1_000, min(backoff, Self.maxPause))
    refresh.dueAt = clock.now().advanced(byMilliseconds: wait)
    return refresh
  }
}
