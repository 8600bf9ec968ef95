package import AppStore
internal import Entitlements
package import Store

// Requests for retention messages. They are no evidence: no answer about entitlements depends on them.
extension EvidenceLedger {
  /// The maximum number of requests in one write. Other writes run between two of them.
  private static let batchSize = 100

  /// Stores requests that are not stored yet, and runs `extra` in the same transaction. Durable on return, unless it is a
  /// dry run, which shows whether the store takes them.
  ///
  /// - Throws: ``LedgerError/store(_:)``.
  package func append(
    _ requests: [RetentionRequestRecord], isDryRun: Bool = false,
    also extra: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Void = { _ in }
  ) async throws(LedgerError) {
    try await commit(isDryRun: isDryRun) { store throws(StoreError) in
      for request in requests { try store.insert(request) }
      try extra(store)
      return ((), [])
    }
  }

  /// Evaluates the outcomes that are due by `clock`, from the facts of their subscriptions.
  ///
  /// - Returns: the requests whose outcome became final.
  /// - Throws: ``LedgerError/store(_:)``.
  package func followRetentionRequests(
    by clock: ServiceClock
  ) async throws(LedgerError) -> [RetentionRequestRecord] {
    var settled: [RetentionRequestRecord] = []
    while true {
      let now = clock.now()
      let due = try await read { reader throws(StoreError) in
        try reader.retentionRequests(dueBy: now, in: clock.domain, limit: Self.batchSize)
      }
      guard !due.isEmpty else { return settled }
      let catalog = catalog.value
      let evaluated = try await write { store throws(StoreError) in
        var evaluated: [RetentionRequestRecord] = []
        for var request in due {
          request.evaluate(
            try store.facts(of: request.line), catalog[request.line.appID]?.retention, at: now)
          try store.updateOutcome(of: request)
          evaluated.append(request)
        }
        return evaluated
      }
      settled += evaluated.filter { $0.dueAt == nil }
    }
  }
}

extension RetentionRequestRecord {
  /// Evaluates the outcome, and sets the time of the next evaluation.
  fileprivate mutating func evaluate(
    _ facts: CustomerFacts, _ policy: RetentionPolicy?, at now: Instant
  ) {
    let days = policy?.outcomeDays ?? RetentionPolicy.standardOutcomeDays
    outcome = followUp.outcome(facts, at: now)
    evaluatedAt = now
    dueAt = outcome.isFinal ? nil : followUp.nextEvaluation(after: now, until: days)
  }
}

// Results of comparisons with Apple's reports. They are no evidence: no answer depends on them.
extension EvidenceLedger {
  /// Appends results of reports and days.
  ///
  /// - Throws: ``LedgerError/store(_:)``.
  package func record(
    _ results: [ReconciledDay], of appID: String, in environment: Environment
  ) async throws(LedgerError) {
    try await write { store throws(StoreError) in
      for result in results { try store.append(result, of: appID, in: environment) }
    }
  }
}
