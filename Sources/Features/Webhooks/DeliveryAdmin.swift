package import AppStore
package import Store

/// What operators ask about deliveries, and do with them.
package struct DeliveryAdmin: Sendable {
  /// How many messages one call sends again.
  package static let replayLimit = 10_000

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
  package struct Replayed: Hashable, Sendable {
    package var count: Int
    /// Where the rest of a range begins; `nil` if there is none.
    package var rest: Int64?
  }

  /// How a receiver is doing.
  package struct Standing: Sendable {
    package let settings: WebhookSettings
    package let outlet: WebhookCursor
    /// The number of the last message that there is.
    package let newest: Int64
    package let counts: DeliveryCounts
  }

  private let outlets: WebhookDispatcher
  private let store: any EntitlementStore
  private let now: @Sendable () -> Instant

  /// A desk for the receivers of `outlets`.
  package init(
    _ outlets: WebhookDispatcher, store: any EntitlementStore, now: @escaping @Sendable () -> Instant
  ) {
    self.outlets = outlets
    self.store = store
    self.now = now
  }

  /// The receivers of an app.
  package func settings(of appID: String) -> [WebhookSettings] {
    outlets.settings.filter { $0.key.appID == appID }
  }

  /// How a receiver is doing.
  package func standing(
    of settings: WebhookSettings, in reader: any StoreReader
  ) throws(StoreError) -> Standing {
    let isOfEvents = settings.key.kind == .events
    return Standing(
      settings: settings, outlet: try reader.outlet(settings.key) ?? WebhookCursor(position: 0),
      newest: try isOfEvents ? reader.lastSequence(of: nil) : reader.lastNotification(),
      counts: try reader.deliveryCounts(of: settings.key))
  }

  /// What the receiver knows the message of a delivery by; empty if it is forwarded as it came.
  package func messageID(
    of delivery: Delivery, to settings: WebhookSettings, in reader: any StoreReader
  ) throws(StoreError) -> String {
    try outlets.source(of: settings).message(at: delivery.position, in: reader)?.id ?? ""
  }

  /// Lets messages be sent again: with the ids that they had, and each subject's in their order.
  package func replay(
    _ selection: Selection, to settings: WebhookSettings
  ) async throws(StoreError) -> Replayed {
    let (key, moment) = (settings.key, now())
    let found = try messages(selection, settings)
    let revived = try await store.write { store throws(StoreError) in
      var subjects: [OrderingKey] = []
      if case .dead = selection { subjects = try store.revive(key, limit: Self.replayLimit) }
      for message in found.messages { try store.put(message.delivery, of: key) }
      try store.order(Array(Set(subjects + found.messages.map(\.about))), of: key, at: moment)
      return subjects.count
    }
    return Replayed(count: revived + found.messages.count, rest: found.rest)
  }

  /// Forgets messages that were given up: these, or all if `positions` is `nil`. They can still be replayed by
  /// their positions.
  ///
  /// - Returns: how many there were.
  package func discard(_ positions: [Int64]?, of settings: WebhookSettings) async throws(StoreError) -> Int64
  {
    let key = settings.key
    return try await store.write { store throws(StoreError) in try store.discard(positions, of: key) }
  }

  /// Sends to a receiver again that had said that it wants no more.
  package func resume(_ settings: WebhookSettings) async throws(StoreError) -> Standing {
    let (key, moment) = (settings.key, now())
    try await store.write { store throws(StoreError) in
      try store.resume(key)
      try store.hasten(key, at: moment)
    }
    let reader = try store.makeReader()
    defer { reader.endTurn() }
    return try standing(of: settings, in: reader)
  }

  private func messages(
    _ selection: Selection, _ settings: WebhookSettings
  ) throws(StoreError) -> (messages: [OutgoingMessage], rest: Int64?) {
    let source = outlets.source(of: settings)
    let reader = try store.makeReader()
    defer { reader.endTurn() }
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
    _ range: ClosedRange<Int64>, _ source: any MessageSource, _ reader: any StoreReader
  ) throws(StoreError) -> (messages: [OutgoingMessage], rest: Int64?) {
    var found: [OutgoingMessage] = []
    var position = range.lowerBound - 1
    while position < range.upperBound, found.count < Self.replayLimit {
      let page = try source.page(
        after: position, limit: min(500, Self.replayLimit - found.count), in: reader)
      found += page.messages.filter { $0.position <= range.upperBound }
      guard page.hasMore, page.end > position else { return (found, nil) }
      position = page.end
    }
    return (found, position < range.upperBound ? position + 1 : nil)
  }
}
