internal import AppStore
package import Logging
internal import Platform
package import Store

/// Purges the bodies of old evidence by the retention policy, the expired responses to requests with idempotency
/// keys, old audit entries and old requests for retention messages. Derived data and hashes stay; a replay can no longer read purged evidence.
///
/// The age of what has an environment is that by the clock of its environment, which stamped it: an embedded sandbox may be
/// years ahead of the machine, or behind.
package struct PurgeWorker: Worker {
  package let name = "retention"

  /// The evidence whose bodies are purged, and their minimum age.
  package struct Rule: Hashable, Sendable {
    /// The evidence by verdict and kind.
    package let selection: EvidenceSelection
    /// The age in days of 24 hours after which a body is purged; at least 0.
    package let days: Int

    /// Purges the bodies of `selection` after `days` days.
    package init(_ selection: EvidenceSelection, days: Int) {
      self.selection = selection
      self.days = days
    }
  }

  /// The days for which a notification that was not forwarded yet keeps its body at least: a little longer than the standard
  /// schedule of attempts, so that a short retention does not lose messages.
  private static let undeliveredDays: Int64 = 4
  /// The number of pieces of evidence in one write.
  private static let pageSize = 500

  private let store: any EntitlementStore
  private let rules: [Rule]
  private let requestDays: Int
  private let auditDays: Int?
  private let clocks: ServiceClocks
  private let logger: Logger
  private let sleep: @Sendable (Duration) async throws -> Void

  /// Creates a worker that applies `rules` once a day; `sleep` waits for the next day.
  /// Requests for retention messages are deleted after `requestDays` days, audit entries after `auditDays` days; `nil`:
  /// never.
  package init(
    _ rules: [Rule], requestDays: Int = 36_500, auditDays: Int? = nil, store: any EntitlementStore,
    clocks: ServiceClocks,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    logger: Logger = Logger(label: "entitled.retention")
  ) {
    self.rules = rules
    self.requestDays = requestDays
    self.auditDays = auditDays
    self.store = store
    self.clocks = clocks
    self.logger = logger
    self.sleep = sleep
  }

  /// Applies the rules at once and then once a day until the task is cancelled.
  ///
  /// - Throws: the first ``StoreError``; the supervisor starts it again.
  package func run() async throws {
    repeat {
      try await purgeResponses()
      try await purgeRetentionRequests()
      try await purgeAuditEntries()
      let count = try await apply()
      if count > 0 { logger.notice("evidence bodies purged", metadata: ["count": "\(count)"]) }
    } while (try? await sleep(.milliseconds(Instant.millisecondsPerDay))) != nil
  }

  /// Deletes the expired records of requests with idempotency keys.
  /// They expire after ``IdempotentRequest/lifetime``. Others can write between two pages of 500 records.
  package func purgeResponses() async throws(StoreError) {
    let instant = clocks.now(in: nil).advanced(byMilliseconds: -IdempotentRequest.lifetime)
    try await deletePages { store throws(StoreError) in
      try store.deleteIdempotencyRecords(before: instant, limit: Self.pageSize)
    }
  }

  /// Deletes the requests for retention messages that are old enough and have a final outcome.
  private func purgeRetentionRequests() async throws(StoreError) {
    for clock in clocks.all {
      let instant = clock.now().advanced(byDays: -Int64(requestDays))
      try await deletePages { store throws(StoreError) in
        try store.deleteRetentionRequests(in: clock.domain, receivedBefore: instant, limit: Self.pageSize)
      }
    }
  }

  private func purgeAuditEntries() async throws(StoreError) {
    guard let auditDays else { return }
    let instant = clocks.now(in: nil).advanced(byDays: -Int64(auditDays))
    try await deletePages { store throws(StoreError) in
      try store.purgeAuditEntries(before: instant, limit: Self.pageSize)
    }
  }

  /// Repeats `delete` until a page is not full. Others can write between two pages.
  private func deletePages(
    _ delete: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Int
  ) async throws(StoreError) {
    while try await store.write(delete) == Self.pageSize {}
  }

  /// Applies all rules now, in pages of 500 between which others can write. A crash leaves whole pages.
  ///
  /// - Returns: the number of purged bodies.
  package func apply() async throws(StoreError) -> Int {
    var count = 0
    for clock in clocks.all {
      for rule in rules { count += try await apply(rule, by: clock) }
    }
    return count
  }

  /// Purges the bodies that a rule selects, a page in each write, and returns their number.
  private func apply(_ rule: Rule, by clock: ServiceClock) async throws(StoreError) -> Int {
    let now = clock.now()
    let instant = now.advanced(byDays: -Int64(rule.days))
    let undelivered = now.advanced(byDays: -Self.undeliveredDays)
    var (last, count): (EvidenceID?, Int) = (nil, 0)
    repeat {
      let start = last
      let page = try await store.write { store throws(StoreError) in
        try store.purgeBodies(
          of: rule.selection, in: clock.domain, receivedBefore: instant, undeliveredSince: undelivered,
          after: start, limit: Self.pageSize)
      }
      (last, count) = (page.last, count + page.purged)
    } while last != nil
    return count
  }
}

extension EvidenceSelection {
  /// App Store Server Notifications.
  package static let notifications = EvidenceSelection.accepted([.notificationV1, .notificationV2])
  /// Signed documents from apps and from Apple's responses.
  package static let documents = EvidenceSelection.accepted([
    .signedTransaction, .signedRenewalInfo, .signedAppTransaction,
  ])
  /// The contents of app receipts, and the receipts themselves if they are retained.
  package static let receipts = EvidenceSelection.accepted([.appReceipt, .receiptStatement])
}
