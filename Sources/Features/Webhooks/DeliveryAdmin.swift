package import AppStore
package import Store

/// What operators ask about deliveries, and do with them.
package struct DeliveryAdmin: Sendable {
  /// How many messages one call sends again.
  package static let maxResendCount = 10_000

  /// Which messages are to be sent again.
  package enum Selection: Hashable, Sendable {
    /// Those that were given up.
    case dead
    /// These, as far as there are such.
    case positions([Int64])
    /// All in a range.
    case range(ClosedRange<Int64>)
  }

  /// What will be sent again.
  package struct ResendResult: Hashable, Sendable {
    package var count: Int
    /// Where the rest of a range begins; `nil` if there is none.
    package var nextPosition: Int64?
  }

  /// How a receiver is doing.
  package struct WebhookStatus: Sendable {
    package let settings: WebhookSettings
    package let cursor: WebhookCursor
    /// The number of the last message that there is.
    package let latestPosition: Int64
    package let counts: DeliveryCounts
  }

  private let dispatcher: WebhookDispatcher
  private let store: any EntitlementStore
  private let now: @Sendable () -> Instant

  /// An admin for the webhooks of `dispatcher`.
  package init(
    _ dispatcher: WebhookDispatcher, store: any EntitlementStore, now: @escaping @Sendable () -> Instant
  ) {
    self.dispatcher = dispatcher
    self.store = store
    self.now = now
  }

  /// The receivers of an app.
  package func settings(of appID: String) -> [WebhookSettings] {
    dispatcher.settings.filter { $0.key.appID == appID }
  }

  /// How a receiver is doing.
  package func status(
    of settings: WebhookSettings, in reader: any StoreSnapshot
  ) throws(StoreError) -> WebhookStatus {
    let isOfEvents = settings.key.kind == .events
    return WebhookStatus(
      settings: settings, cursor: try reader.outlet(settings.key) ?? WebhookCursor(position: 0),
      latestPosition: try isOfEvents ? reader.lastSequence(of: nil) : reader.lastNotification(),
      counts: try reader.deliveryCounts(of: settings.key))
  }

  /// What the receiver knows the message of a delivery by; empty if it is forwarded as it came.
  package func messageID(
    of delivery: Delivery, to settings: WebhookSettings, in reader: any StoreSnapshot
  ) throws(StoreError) -> String {
    try dispatcher.source(of: settings).message(at: delivery.position, in: reader)?.id ?? ""
  }

  /// Lets messages be sent again: with the ids that they had, and each subject's in their order.
  package func resend(
    _ selection: Selection, to settings: WebhookSettings
  ) async throws(StoreError) -> ResendResult {
    let (key, moment) = (settings.key, now())
    let found = try await store.read { reader throws(StoreError) in
      try messages(selection, settings, reader)
    }
    let revived = try await store.write { store throws(StoreError) in
      var subjects: [OrderingKey] = []
      if case .dead = selection { subjects = try store.requeue(key, limit: Self.maxResendCount) }
      for message in found.messages { try store.put(message.delivery, of: key) }
      try store.reschedule(Array(Set(subjects + found.messages.map(\.about))), of: key, at: moment)
      return subjects.count
    }
    return ResendResult(count: revived + found.messages.count, nextPosition: found.nextPosition)
  }

  /// Forgets messages that were given up: these, or all if `positions` is `nil`. They can still be resent by
  /// their positions.
  ///
  /// - Returns: how many there were.
  package func discard(_ positions: [Int64]?, of settings: WebhookSettings) async throws(StoreError) -> Int64
  {
    let key = settings.key
    return try await store.write { store throws(StoreError) in try store.discard(positions, of: key) }
  }

  /// Sends to a receiver again that had said that it wants no more.
  package func resume(_ settings: WebhookSettings) async throws(StoreError) -> WebhookStatus {
    let (key, moment) = (settings.key, now())
    try await store.write { store throws(StoreError) in
      try store.resume(key)
      try store.retryNow(key, at: moment)
    }
    return try await store.read { reader throws(StoreError) in try status(of: settings, in: reader) }
  }

  private func messages(
    _ selection: Selection, _ settings: WebhookSettings, _ reader: any StoreSnapshot
  ) throws(StoreError) -> (messages: [OutgoingMessage], nextPosition: Int64?) {
    let source = dispatcher.source(of: settings)
    switch selection {
    case .dead: return ([], nil)
    case .positions(let positions):
      var messages: [OutgoingMessage] = []
      for position in positions {
        if let message = try source.message(at: position, in: reader) { messages.append(message) }
      }
      return (messages, nil)
    case .range(let range): return try messages(range, source, reader)
    }
  }

  private func messages(
    _ range: ClosedRange<Int64>, _ source: any MessageSource, _ reader: any StoreSnapshot
  ) throws(StoreError) -> (messages: [OutgoingMessage], nextPosition: Int64?) {
    var found: [OutgoingMessage] = []
    var position = range.lowerBound - 1
    while position < range.upperBound, found.count < Self.maxResendCount {
      let page = try source.page(
        after: position, limit: min(500, Self.maxResendCount - found.count), in: reader)
      found += page.messages.filter { $0.position <= range.upperBound }
      guard page.hasMore, page.end > position else { return (found, nil) }
      position = page.end
    }
    return (found, position < range.upperBound ? position + 1 : nil)
  }
}
