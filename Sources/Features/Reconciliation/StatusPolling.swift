internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import Logging
internal import Store

/// Runs the status polls of one app and environment that are due. ``AppReconciler`` creates one for each tick, so that
/// it has the current catalog.
struct StatusPolling: Sendable {
  /// The number of lines that are polled at the same time. Each costs one call, and the rate limit of ``lookup``
  /// spreads them.
  private static let batchSize = 32

  /// A line to poll.
  private struct Poll: Sendable {
    let line: LineKey
    let query: PurchaseStatusQuery
    /// The state of the line's customers before the poll.
    let snapshot: StateSnapshot
  }

  private struct Outcomes {
    /// The lines whose state Apple stated, or will never state.
    var polled: [LineKey] = []
    /// The lines whose polls failed with an error that may be about them only.
    var failed: [(line: LineKey, error: LookupError)] = []
    /// An error that concerns all purchases.
    var error: LookupError?
  }

  let store: any EntitlementStore
  let ledger: EvidenceLedger
  let lookup: PurchaseLookup
  let app: AppDefinition
  let target: AppEnvironment
  let metrics: ReconciliationMetrics
  /// The clock of the environment, which a sandbox may set.
  let now: @Sendable () -> Instant
  private let logger = Logger(label: "entitled.reconciliation")

  /// Runs all polls that are due. After an error that concerns all purchases, the remaining ones stay due.
  func run() async throws(ReconciliationError) {
    do {
      while !Task.isCancelled {
        let (due, backlog) = try await store.read(.background) { [target, now] reader throws(StoreError) in
          (
            try reader.duePolls(of: target.appID, in: target.environment, by: now(), limit: Self.batchSize),
            try reader.pollBacklog(of: target.appID, in: target.environment, by: now())
          )
        }
        metrics.recordBacklog(backlog)
        guard !due.isEmpty else { return }
        try await poll(try await ledger.stillDue(due, by: now()))
      }
    } catch {
      throw ReconciliationError(error)
    }
  }

  /// Polls lines and records when. An error that may be about one purchase only postpones it. Any other leaves the line
  /// due, and is thrown after the others were recorded.
  private func poll(_ lines: [LineKey]) async throws {
    let instant = now()
    let polls = try await store.read(.background) { [app] reader throws(StoreError) in
      try lines.map { line throws(StoreError) in
        Poll(
          line: line, query: PurchaseStatusQuery(line, try reader.facts(of: line)),
          snapshot: try StateSnapshot(about: [line], in: app, at: instant, reader))
      }
    }
    let outcomes = try await outcomes(of: polls)
    // The responses state what held when the App Store was called, however much later they are stored.
    if !outcomes.polled.isEmpty { try await ledger.recordPolls(of: outcomes.polled, at: instant) }
    try await postpone(outcomes.failed)
    if let error = outcomes.error { throw error }
  }

  /// Makes the calls and counts their outcomes. An error that a repetition cannot change counts as a poll.
  private func outcomes(of polls: [Poll]) async throws -> Outcomes {
    var outcomes = Outcomes()
    for (poll, result) in zip(polls, await results(of: polls.map(\.query))) {
      switch result {
      case .success:
        let changed = try await store.read(.background) { reader throws(StoreError) in
          try poll.snapshot.driftedCustomers(reader)
        }
        metrics.countPoll(changed.isEmpty ? .unchanged : .changed)
        outcomes.polled.append(poll.line)
      case .failure(let error) where error.isFinal:
        metrics.countPoll(.refused)
        outcomes.polled.append(poll.line)
      case .failure(let error) where !error.concernsAllPurchases:
        metrics.countPoll(.failed)
        outcomes.failed.append((poll.line, error))
      case .failure(let error): outcomes.error = error
      }
    }
    return outcomes
  }

  /// Postpones the polls of lines that failed alone.
  private func postpone(_ failed: [(line: LineKey, error: LookupError)]) async throws {
    guard let first = failed.first else { return }
    logger.warning(
      "status polls failed, will retry",
      metadata: [
        "app": "\(target.appID)", "environment": "\(target.environment.rawValue)", "count": "\(failed.count)",
        "first": "\(first.line.lineID)", "error": "\(first.error)",
      ])
    try await ledger.postponePolls(of: failed.map(\.line), at: now())
  }

  /// Runs all queries concurrently and returns the results in the order of the queries.
  private func results(of queries: [PurchaseStatusQuery]) async -> [Result<Void, LookupError>] {
    await withTaskGroup(of: (Int, Result<Void, LookupError>).self) { [lookup] group in
      for (index, query) in queries.enumerated() {
        group.addTask {
          do throws(LookupError) {
            return (index, .success(try await query.run(through: lookup)))
          } catch {
            return (index, .failure(error))
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }
}

/// Queries the status of one purchase with as few calls as possible.
struct PurchaseStatusQuery: Sendable {
  private let line: LineKey
  private let isSubscription: Bool
  private let facts: CustomerFacts
  /// The end of the latest stored period.
  private let end: Instant?
  /// The start of that period.
  private let start: Instant?

  /// Creates a query of `line`, whose stored facts are `facts`.
  init(_ line: LineKey, _ facts: CustomerFacts) {
    self.line = line
    self.facts = facts
    isSubscription = facts.transactions.last?.isSubscription ?? true
    end = facts.latestPeriod?.transaction.expiresDate
    start = facts.latestPeriod?.start
  }

  /// Runs the query: one call for all subscriptions of the Apple account, or for all its other purchases; further calls if
  /// periods between the stored and the latest one may be missing, if the latest one was renewed before it starts and the one
  /// before it is not stored, or if the status shows only one of several transactions of a period.
  func run(through lookup: PurchaseLookup) async throws(LookupError) {
    guard isSubscription else {
      return try await lookup.fetchNonSubscriptions(request).requireVerified()
    }
    let result = try await lookup.fetchStatuses(request)
    try result.requireVerified()
    if result.lacksCurrentPeriod(of: line, in: facts) {
      _ = try await lookup.fetchHistory(request, since: nil)
    } else if result.skipsPeriods(of: line, after: end, in: facts) || result.hasAddedSeats(to: line) {
      _ = try await lookup.fetchHistory(request, since: start)
    }
  }

  /// Runs the query, and one for the refunds of the Apple account if the line is a subscription: a status shows its last
  /// period only. The query of another line shows its refund itself.
  func runWithRefunds(through lookup: PurchaseLookup) async throws(LookupError) {
    try await run(through: lookup)
    if isSubscription { try await lookup.fetchRevocations(request).requireVerified() }
  }

  private var request: PurchaseLookup.Request {
    var request = PurchaseLookup.Request(
      appID: line.appID, environment: line.environment, transactionID: line.lineID)
    request.priority = .repair
    return request
  }
}

extension PurchaseLookup.Result {
  /// Whether seats were added to the period in the response, so that further transactions cover it.
  fileprivate func hasAddedSeats(to line: LineKey) -> Bool {
    transactions.contains {
      $0.originalTransactionId == line.lineID && $0.additionalTransactionReason != nil
    }
  }

  /// Whether the response has only a period that is yet to start, and `facts`, those stored, have none before it.
  fileprivate func lacksCurrentPeriod(of line: LineKey, in facts: CustomerFacts) -> Bool {
    transactions.contains { transaction in
      guard transaction.originalTransactionId == line.lineID,
        let fact = try? TransactionFact(transaction)
      else { return false }
      return facts.lacksPeriod(before: fact)
    }
  }

  /// Whether the response has a period that `facts`, those stored, have not, and that does not begin at the end of the
  /// last stored one, so that others between them may be missing: after a gap, or before an upgrade, which begins earlier.
  fileprivate func skipsPeriods(of line: LineKey, after end: Instant?, in facts: CustomerFacts) -> Bool {
    guard let end else { return true }
    return transactions.contains { transaction in
      transaction.originalTransactionId == line.lineID && transaction.purchaseDate != end
        && !facts.transactions.contains { $0.transactionID == transaction.transactionId }
    }
  }
}
