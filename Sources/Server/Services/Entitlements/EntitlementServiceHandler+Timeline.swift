internal import AppStore
internal import Callers
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Webhooks
internal import Wire

// The events of a customer, page by page.
extension EntitlementServiceHandler {
  /// The greatest number of notifications beside a page of events.
  private static let maxNotifications = 1_000

  /// The position of a page is the sequence of the last event of the previous page.
  /// With `types` or `entitlements`, the store is read 500 events at a time until the page is full.
  ///
  /// - Throws: `ROLE_MISSING` for `include_webhooks` without the role `operate`.
  func listTimeline(
    _ request: ListTimelineRequest, _ call: CallContext
  ) async throws(Status) -> ListTimelineResponse {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.customerID(request.customerId)
    let (page, size) = try context.page(of: request)
    let last = try page.number
    let mayOperate = call.hasRole(.operate)
    if request.includeWebhooks, !mayOperate {
      throw Status(CallerError.roleMissing(caller: call.caller, needed: .operate))
    }
    let timeline = Timeline(
      customer: CustomerKey(appID: app.id, environment: environment, customerID: request.customerId),
      newestFirst: request.newestFirst, types: Set(request.types), entitlements: Set(request.entitlements))
    let response = try await context.readExpensively(call) {
      reader throws(StoreError) -> ListTimelineResponse in
      let events = try timeline.events(from: last, limit: size + 1, reader)
      let shown = events.prefix(size)
      var response = ListTimelineResponse.with {
        $0.events = shown.map { EntitlementEvent($0, in: app, showsOtherCustomer: mayOperate) }
        if events.count > size { $0.nextPageToken = page.token(after: events[size - 1].sequence) }
      }
      if request.includeNotifications {
        let end = events.count > size ? shown.last : nil
        response.notifications = try timeline.notifications(
          from: last, to: end, limit: Self.maxNotifications, reader
        ).map { Wire.Notification($0, customerID: request.customerId) }
      }
      if request.includeWebhooks {
        for event in shown {
          response.deliveries += try context.deliveries.states(of: event, in: reader).map(EventDelivery.init)
        }
      }
      return response
    }
    CallScope.show(response.events.map(\.otherCustomerId))
    return response
  }
}

/// The events of a customer in one direction, filtered.
private struct Timeline: Sendable {
  private static let pageSize = 500

  let customer: CustomerKey
  let newestFirst: Bool
  /// Empty: all.
  let types: Set<String>
  /// Empty: all, and events about none.
  let entitlements: Set<String>

  /// At most `limit` events after the one with the sequence `last`, in the direction of the timeline.
  func events(
    from last: Int64?, limit: Int, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [StoredEvent] {
    var (found, last): ([StoredEvent], Int64?) = ([], last)
    while found.count < limit {
      let page = try page(
        from: last, limit: types.isEmpty && entitlements.isEmpty ? limit : Self.pageSize, reader)
      found += page.filter(passes)
      guard let end = page.last?.sequence, page.count >= limit || page.count == Self.pageSize else { break }
      last = end
    }
    return Array(found.prefix(limit))
  }

  /// One page of the store in the direction of the timeline, unfiltered.
  private func page(
    from last: Int64?, limit: Int, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [StoredEvent] {
    newestFirst
      ? try reader.events(of: customer, before: last, limit: limit)
      : try reader.events(of: customer, after: last ?? 0, limit: limit)
  }

  private func passes(_ stored: StoredEvent) -> Bool {
    let change = stored.event.change
    return (types.isEmpty || types.contains(change.kind.rawValue))
      && (entitlements.isEmpty || entitlements.contains(change.entitlement))
  }

  /// The notifications about the customer's purchases between two events, the last one included, in the direction of
  /// the timeline; `nil` is its begin or end.
  func notifications(
    from sequence: Int64?, to end: StoredEvent?, limit: Int, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [NotificationRecord] {
    var query = NotificationFilter(appID: customer.appID, limit: limit)
    query.environment = customer.environment
    query.customerID = customer.customerID
    let start = try sequence.flatMap { sequence throws(StoreError) in
      try reader.events(of: customer, after: sequence - 1, limit: 1).first?.event.recordedAt
    }
    guard newestFirst else {
      query.from = start?.advanced(byMilliseconds: 1)
      query.to = end?.event.recordedAt.advanced(byMilliseconds: 1)
      return try reader.notifications(query).reversed()
    }
    query.from = end?.event.recordedAt
    query.to = start
    return try reader.notifications(query)
  }
}

extension EventDelivery {
  fileprivate init(_ state: DeliveryAdmin.EventState) {
    self.init()
    sequence = state.sequence
    webhook = state.webhook
    switch state.progress {
    case .queued: self.state = .queued
    case .delivered: self.state = .delivered
    case .undelivered(let delivery):
      self.state = delivery.state == .deadLetter ? .deadLetter : .pending
      attempts = Int32(clamping: delivery.attempts)
      outcome = delivery.outcome
      nextAttemptAt = delivery.dueAt.map(GoogleProtobuf.Timestamp.init)
    }
  }
}
