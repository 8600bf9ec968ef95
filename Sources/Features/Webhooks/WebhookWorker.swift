internal import AppStore
internal import AppStoreClient
internal import Store

/// Brings one receiver its messages: those about one subject in their order, those about different ones side
/// by side.
///
/// What arrives leaves no trace but the cursor in the log. What does not becomes a row, and so
/// does all that comes behind it about the same subject, until the first of them is taken or given up. A crash
/// sends the last page again, with the same ids.
actor WebhookWorker {
  private static let pageSize = 100
  private static let dueLimit = 32
  private static let laneLength = 20
  private static let maxWait: Int64 = 60_000
  /// After so many messages of others the position is remembered all the same.
  private static let silentStride: Int64 = 1_000

  let settings: WebhookSettings
  private let source: any MessageSource
  let sender: MessageSender
  let store: any EntitlementStore
  let now: @Sendable () -> Instant
  var health = WebhookCircuitBreaker()
  var position: Int64 = 0
  var isGone = false
  /// It had been down and took something; what waits for it is due.
  var cameBack = false
  var attempts = 0
  var measuredAt: Instant?

  init(
    _ settings: WebhookSettings, source: any MessageSource, exchange: any HTTPExchange,
    store: any EntitlementStore, now: @escaping @Sendable () -> Instant
  ) {
    self.settings = settings
    self.source = source
    sender = MessageSender(settings: settings, exchange: exchange, now: now)
    self.store = store
    self.now = now
  }

  /// Does all that can be done now.
  ///
  /// - Returns: after how many milliseconds there may be more to do, if nothing is committed before.
  func run() async throws(StoreError) -> Int64 {
    let saved = try await store.read { [settings] reader throws(StoreError) in
      try reader.outlet(settings.key)
    }
    guard let saved, saved.goneAt == nil else { return Self.maxWait }
    position = max(position, saved.position)
    isGone = false
    var isBusy = true
    while isBusy, !isGone, !Task.isCancelled, health.retryDelay(at: now()) == nil {
      isBusy = try await health.isDown ? probe() : step()
    }
    if position - saved.position >= Self.silentStride { try await save(BatchReport(), upTo: position) }
    try await measure()
    if let rest = health.retryDelay(at: now()) { return rest }
    let due = try await store.read { [settings] reader throws(StoreError) in
      try reader.nextDue(of: settings.key)
    }
    return due.map { min(max($0.milliseconds(since: now()), 1), Self.maxWait) } ?? Self.maxWait
  }

  /// Sends what is due again, then what is new.
  ///
  /// - Returns: whether there may be more.
  private func step() async throws(StoreError) -> Bool {
    let moment = now()
    let due = try await store.read { [settings] reader throws(StoreError) in
      try reader.deliveries(of: settings.key, dueBy: moment, limit: Self.dueLimit)
    }
    try await resend(due)
    guard !health.isDown, health.retryDelay(at: now()) == nil else { return true }
    let hasMore = try await sendNextPage(Self.pageSize)
    return hasMore || due.count == Self.dueLimit
  }

  /// Asks a receiver that is down: with the message that waits for its next attempt, and with a new one, since
  /// of a single message nobody knows whether it is the message that is at fault.
  ///
  /// - Returns: whether there may be more.
  private func probe() async throws(StoreError) -> Bool {
    let next = try await store.read { [settings] reader throws(StoreError) in
      try reader.deliveries(
        of: settings.key, dueBy: Instant(millisecondsSince1970: .max), limit: 1)
    }
    try await resend(next, isProbe: true)
    let before = attempts
    var hasMore = true
    while hasMore, attempts == before { hasMore = try await sendNextPage(1, isProbe: true) }
    return !health.isDown
  }

  /// Takes messages from the log; those about a subject for which something waits join it.
  ///
  /// - Returns: whether there may be more.
  private func sendNextPage(_ limit: Int, isProbe: Bool = false) async throws(StoreError) -> Bool {
    guard !isGone else { return false }
    let (page, waiting) = try await store.read { [source, settings, position] reader throws(StoreError) in
      let page = try source.page(after: position, limit: limit, in: reader)
      var waiting: Set<OrderingKey> = []
      for subject in Set(page.messages.map(\.about)) {
        let first = try reader.deliveries(about: subject, of: settings.key, limit: 1)
        if !first.isEmpty { waiting.insert(subject) }
      }
      return (page, waiting)
    }
    guard !page.messages.isEmpty else {
      position = page.end
      return page.hasMore
    }
    var report = BatchReport()
    var open: [OrderedBatch] = []
    for lane in OrderedBatch.lanes(page.messages) {
      if waiting.contains(lane.subject) { report.untouched(lane.items) } else { open.append(lane) }
    }
    report.add(await send(open, isProbe: isProbe))
    try await save(report, upTo: page.end)
    return page.hasMore
  }

  /// Sends what waits, each with what comes behind it about the same subject; of a probe only the first.
  private func resend(_ due: [Delivery], isProbe: Bool = false) async throws(StoreError) {
    guard !due.isEmpty else { return }
    var report = BatchReport()
    var lanes: [OrderedBatch] = []
    for first in due {
      let waiting = try await store.read { [source, settings] reader throws(StoreError) in
        try reader.deliveries(
          about: first.about, of: settings.key, limit: isProbe ? 1 : Self.laneLength
        ).map { delivery throws(StoreError) in
          (delivery, try source.message(at: delivery.position, in: reader))
        }
      }
      var lane = OrderedBatch(subject: first.about)
      for (delivery, message) in waiting {
        // What the configuration does not want any more is as good as sent.
        if let message { lane.items.append(.init(message, stored: delivery)) } else { report.drop(delivery) }
      }
      lanes.append(lane)
    }
    report.add(await send(lanes, isProbe: isProbe))
    try await save(report, upTo: position)
  }
}
