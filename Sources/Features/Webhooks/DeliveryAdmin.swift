package import AppStore
package import Ledger
package import Store

/// The operator's requests about webhooks and deliveries: their state, resending, discarding, and resuming a webhook
/// that returned 410. Reads take a snapshot of the caller, so that a response shows one commit.
package struct DeliveryAdmin: Sendable {
  /// The maximum number of messages that one call resends.
  package static let maxResendCount = 10_000
  /// The number of positions that one write discards.
  private static let positionsInOneWrite = 1_000

  /// The messages to resend. Positions and ranges also select messages that were delivered.
  package enum Selection: Hashable, Sendable {
    /// The oldest dead letters that the webhook selects and that have their content, at most
    /// ``DeliveryAdmin/maxResendCount``. The others stay dead letters.
    case deadLetters
    /// Those at these positions, as far as they exist and the webhook selects them.
    case positions([Int64])
    /// All within a range of positions.
    case range(ClosedRange<Int64>)
  }

  /// The result of a request to deliver messages again.
  package struct ResendResult: Hashable, Sendable {
    /// The number of messages that will be delivered again.
    package var count: Int
    /// The start of the rest of a range; `nil` if all are resent.
    package var nextPosition: Int64?
  }

  /// A webhook with its cursor and counts. The backlog is what lies between the cursor and the latest position,
  /// together with the pending deliveries.
  package struct WebhookStatus: Sendable {
    /// The webhook as it is configured.
    package let settings: WebhookSettings
    /// The position up to which its log was read; 0 for a new webhook.
    package let cursor: WebhookCursor
    /// The position of the last message in the log.
    package let latestPosition: Int64
    /// The numbers of stored messages by state.
    package let counts: DeliveryCounts
  }

  private let dispatcher: WebhookDispatcher
  private let store: any EntitlementStore
  private let now: @Sendable () -> Instant

  /// Creates requests about the webhooks of `dispatcher`; `now` is the time at which resent messages are due.
  package init(
    _ dispatcher: WebhookDispatcher, store: any EntitlementStore, now: @escaping @Sendable () -> Instant
  ) {
    self.dispatcher = dispatcher
    self.store = store
    self.now = now
  }

  /// Returns the webhooks of an app.
  package func settings(of appID: String) -> [WebhookSettings] {
    dispatcher.settings.filter { $0.key.appID == appID }
  }

  /// Returns the status of a webhook. A webhook whose cursor is not stored yet has position 0, and none of the log
  /// counts as delivered.
  ///
  /// - Throws: ``StoreError`` of the snapshot.
  package func status(
    of settings: WebhookSettings, in reader: any StoreSnapshot
  ) throws(StoreError) -> WebhookStatus {
    let deliversEvents = settings.key.kind == .events
    return WebhookStatus(
      settings: settings, cursor: try reader.cursor(of: settings.key) ?? WebhookCursor(position: 0),
      latestPosition: try deliversEvents
        ? reader.lastSequence(ofApp: settings.key.appID) : reader.lastNotification(),
      counts: try reader.deliveryCounts(of: settings.key))
  }

  /// Returns the message id of a delivery; empty for forwarded notifications.
  package func messageID(
    of delivery: Delivery, to settings: WebhookSettings, in reader: any StoreSnapshot
  ) throws(StoreError) -> String {
    try dispatcher.source(of: settings).message(at: delivery.position, in: reader)?.id ?? ""
  }

  /// Returns a message as the webhook receives it; `nil` if there is none at this position for the webhook.
  package func message(
    at position: Int64, to settings: WebhookSettings, in reader: any StoreSnapshot
  ) throws(StoreError) -> OutgoingMessage? {
    try dispatcher.source(of: settings).message(at: position, in: reader)
  }

  /// The delivery of one event to one webhook.
  package struct EventState: Sendable {
    /// The progress of a delivery.
    package enum Progress: Sendable {
      /// Not sent yet.
      case queued
      /// Pending, or a dead letter.
      case undelivered(Delivery)
      /// Delivered, or discarded.
      case delivered
    }

    /// The sequence of the event.
    package let sequence: Int64
    /// The name in the configuration.
    package let webhook: String
    /// The state in which the webhook's delivery of the event is.
    package let progress: Progress
  }

  /// Returns the delivery of an event to each webhook that selects it, in the order of the settings. A webhook that began after
  /// the event has none, unless the operator resent it and it was not delivered.
  package func states(
    of event: StoredEvent, in reader: any StoreSnapshot
  ) throws(StoreError) -> [EventState] {
    var states: [EventState] = []
    for settings in settings(of: event.event.customer.appID) where settings.key.kind == .events {
      guard try message(at: event.sequence, to: settings, in: reader) != nil else { continue }
      let undelivered = try reader.deliveries(
        of: settings.key, in: nil, after: event.sequence - 1, limit: 1
      ).first { $0.position == event.sequence }
      let position = try reader.cursor(of: settings.key)?.position ?? 0
      let progress: EventState.Progress
      if let undelivered {
        progress = .undelivered(undelivered)
      } else {
        guard try event.sequence > reader.lastPosition(before: settings.key) else { continue }
        progress = event.sequence <= position ? .delivered : .queued
      }
      states.append(EventState(sequence: event.sequence, webhook: settings.key.name, progress: progress))
    }
    return states
  }

  /// The idempotency key of a request, and the encoded response to its caller. The store keeps the response in the
  /// write that resends, so that a repetition gets the same one.
  package struct IdempotentResend: Sendable {
    /// The key with a hash of the request, so that the key cannot be reused for another one.
    let request: IdempotentRequest
    /// The time by which keys expire.
    let keyTime: Instant
    let response: @Sendable (ResendResult) -> [UInt8]

    /// `response` runs inside the write, so it must have no effect.
    package init(
      _ request: IdempotentRequest, at keyTime: Instant,
      response: @escaping @Sendable (ResendResult) -> [UInt8]
    ) {
      self.request = request
      self.keyTime = keyTime
      self.response = response
    }
  }

  /// The result of ``resend(_:to:_:)``.
  package enum Resend: Sendable {
    /// The messages are scheduled.
    case resent(ResendResult)
    /// Another call with the same idempotency key sent them; this is the encoded response to it.
    case repeated([UInt8])
  }

  /// Schedules messages to be sent again, with the same ids and in the order of their ordering keys. At most
  /// ``maxResendCount`` are scheduled; for a range, the result has the position at which to continue.
  package func resend(
    _ selection: Selection, to settings: WebhookSettings, _ idempotency: IdempotentResend? = nil
  ) async throws(LedgerError) -> Resend {
    let result: Result<Resend, LedgerError>
    do throws(StoreError) {
      let found = try await store.read { reader throws(StoreError) in
        try messages(selection, settings, reader)
      }
      let instant = now()
      result = try await store.write { store throws(StoreError) -> Result<Resend, LedgerError> in
        do throws(LedgerError) {
          if let idempotency,
            let response = try store.response(to: idempotency.request, at: idempotency.keyTime)
          {
            return .success(.repeated(response))
          }
        } catch {
          return .failure(error)
        }
        let resent = try Self.resend(found, settings.key, in: store, at: instant)
        if let idempotency {
          try store.finish(idempotency.request, idempotency.response(resent), at: idempotency.keyTime)
        }
        return .success(.resent(resent))
      }
    } catch {
      throw .store(error)
    }
    return try result.get()
  }

  /// Stores the messages inside a write, and makes the first of each ordering key due.
  private static func resend(
    _ found: FoundMessages, _ webhook: WebhookKey, in store: any StoreTransaction, at instant: Instant
  ) throws(StoreError) -> ResendResult {
    for delivery in found.deliveries { try store.put(delivery, of: webhook) }
    // As they are stored: a customer that was erased since the messages were read has another one.
    let keys = try store.orderingKeys(at: found.deliveries.map(\.position), of: webhook)
    try store.reschedule(Array(keys), of: webhook, at: instant)
    return ResendResult(count: found.deliveries.count, nextPosition: found.nextPosition)
  }

  /// Discards dead letters: those at `positions`, or all for `nil`. They can still be resent by their positions.
  ///
  /// - Returns: the number of discarded dead letters.
  /// - Throws: ``StoreError``. Some positions may be discarded then; a repetition does not count them again.
  package func discard(_ positions: [Int64]?, of settings: WebhookSettings) async throws(StoreError) -> Int64
  {
    let key = settings.key
    guard let positions else {
      return try await store.write { store throws(StoreError) in try store.discard(nil, of: key) }
    }
    // In several writes, between which others are served.
    var (rest, count) = (positions[...], Int64(0))
    while !rest.isEmpty {
      let next = Array(rest.prefix(Self.positionsInOneWrite))
      rest = rest.dropFirst(next.count)
      count += try await store.write { store throws(StoreError) in try store.discard(next, of: key) }
    }
    return count
  }

  /// Resumes a webhook that returned 410. Its messages that wait for a retry are due at once, also if the webhook was
  /// not stopped. The worker notices by the commit.
  ///
  /// - Throws: ``StoreError``.
  package func resume(_ settings: WebhookSettings) async throws(StoreError) -> WebhookStatus {
    let (key, instant) = (settings.key, now())
    try await store.write { store throws(StoreError) in
      try store.resume(key)
      try store.retryNow(nil, of: key, at: instant)
    }
    return try await store.read { reader throws(StoreError) in try status(of: settings, in: reader) }
  }

  /// The messages of a selection before another first attempt, and the start of the rest of its range.
  private typealias FoundMessages = (deliveries: [Delivery], nextPosition: Int64?)

  private func messages(
    _ selection: Selection, _ settings: WebhookSettings, _ reader: any StoreSnapshot
  ) throws(StoreError) -> FoundMessages {
    let source = dispatcher.source(of: settings)
    switch selection {
    case .deadLetters: return (try deadLetters(settings, source, reader), nil)
    case .positions(let positions):
      var found: [Delivery] = []
      // A repeated position is one message.
      for position in Set(positions).sorted() {
        if let message = try source.message(at: position, in: reader) { found.append(message.delivery) }
      }
      return (found, nil)
    case .range(let range): return try messages(range, source, reader)
    }
  }

  private func deadLetters(
    _ settings: WebhookSettings, _ source: any MessageSource, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [Delivery] {
    var found: [Delivery] = []
    var last: Int64? = 0
    while let position = last, found.count < Self.maxResendCount {
      let page = try reader.deliveries(of: settings.key, in: .deadLetter, after: position, limit: 500)
      for dead in page {
        if let message = try source.message(at: dead.position, in: reader) { found.append(message.delivery) }
      }
      last = page.last?.position
    }
    return Array(found.prefix(Self.maxResendCount))
  }

  private func messages(
    _ range: ClosedRange<Int64>, _ source: any MessageSource, _ reader: any StoreSnapshot
  ) throws(StoreError) -> FoundMessages {
    var found: [Delivery] = []
    var position = range.lowerBound - 1
    while position < range.upperBound, found.count < Self.maxResendCount {
      let page = try source.page(
        after: position, limit: min(500, Self.maxResendCount - found.count), in: reader)
      found += page.deliveries.filter { $0.position <= range.upperBound && $0.state == .pending }
      guard page.hasMore, page.end > position else { return (found, nil) }
      position = page.end
    }
    return (found, position < range.upperBound ? position + 1 : nil)
  }
}
