internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import Store

/// Asks Apple how subscriptions stand whose moment has come.
struct StatusPolling: Sendable {
  /// How many are asked about at a time.
  private static let width = 32

  let store: any EntitlementStore
  let ledger: EvidenceLedger
  let lookup: PurchaseLookup
  let app: AppDefinition
  let place: AppEnvironment
  let metrics: ReconciliationMetrics
  let now: @Sendable () -> Instant

  /// Asks about all that is due.
  ///
  /// - Throws: ``LookupError`` if Apple cannot be asked just now; what was not asked stays due.
  func run() async throws(LookupError) {
    do {
      while !Task.isCancelled {
        let (due, backlog) = try await store.read(.background) { [place, now] reader throws(StoreError) in
          (
            try reader.duePolls(of: place.appID, in: place.environment, by: now(), limit: Self.width),
            try reader.pollBacklog(of: place.appID, in: place.environment, by: now())
          )
        }
        metrics.waiting(polls: backlog)
        guard !due.isEmpty else { return }
        try await ask(try await ledger.stillDue(due, by: now()))
      }
    } catch {
      throw LookupError(error)
    }
  }

  private func ask(_ lines: [LineKey]) async throws {
    let moment = now()
    let polls = try await store.read(.background) { [app] reader throws(StoreError) in
      try lines.map { line throws(StoreError) in
        (
          line, PurchaseStatusQuery(line, try reader.facts(of: line)),
          try StateSnapshot(about: [line], in: app, at: moment, reader)
        )
      }
    }
    let answers = await answers(to: polls.map(\.1))
    var asked: [LineKey] = []
    var failure: LookupError?
    for ((line, _, beliefs), answer) in zip(polls, answers) {
      switch answer {
      case .success:
        let changed = try await store.read(.background) { reader throws(StoreError) in
          try beliefs.changed(reader)
        }
        metrics.polled(changed.isEmpty ? .unchanged : .changed)
        asked.append(line)
      case .failure(let error) where error.isFinal:
        metrics.polled(.refused)
        asked.append(line)
      case .failure(let error): failure = error
      }
    }
    if !asked.isEmpty { try await ledger.recordPolls(of: asked, at: now()) }
    if let failure { throw failure }
  }

  /// What came of each, in their order; all are made at once.
  private func answers(to inquiries: [PurchaseStatusQuery]) async -> [Result<Void, LookupError>] {
    await withTaskGroup(of: (Int, Result<Void, LookupError>).self) { [lookup] group in
      for (place, inquiry) in inquiries.enumerated() {
        group.addTask {
          do throws(LookupError) {
            return (place, .success(try await inquiry.ask(lookup)))
          } catch {
            return (place, .failure(error))
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }
}
