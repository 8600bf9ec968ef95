internal import AppStore
internal import Entitlements
internal import Store
internal import Wire

// The lanes that have marks instead of segments.
extension HistoryLane {
  /// The lane of Apple's notifications about the customer's purchases, oldest first; of too many, the latest.
  init(
    notificationsAbout customer: CustomerKey, _ start: Instant, _ end: Instant, limit: Int,
    _ reader: any StoreSnapshot
  ) throws(StoreError) {
    var query = NotificationFilter(appID: customer.appID, limit: limit)
    query.environment = customer.environment
    query.customerID = customer.customerID
    query.from = start
    query.to = end.advanced(byMilliseconds: 1)
    self.init()
    kind = .apple
    marks = try reader.notifications(query).reversed().map { record in
      .with {
        $0.time = GoogleProtobuf.Timestamp(record.receivedAt)
        $0.type = record.subtype.isEmpty ? record.type : "\(record.type)/\(record.subtype)"
        $0.explanation = record.meaning
        $0.transactionId = record.transactionID
        $0.evidenceId = record.evidenceID.rawValue
      }
    }
  }

  /// The lane of the events that an operator's command caused: those with an actor, oldest first; of too many, the
  /// latest.
  init(
    commandsAbout customer: CustomerKey, _ start: Instant, _ end: Instant, limit: Int,
    _ reader: any StoreSnapshot
  ) throws(StoreError) {
    self.init()
    kind = .operator
    var latest: [StoredEvent] = []
    var first: Int64?
    while latest.count < limit {
      let page = try reader.events(of: customer, before: first, limit: limit)
      latest += page.filter {
        !$0.event.actor.isEmpty && $0.event.recordedAt >= start && $0.event.recordedAt <= end
      }
      guard page.count == limit, let last = page.last else { break }
      first = last.sequence
    }
    marks = latest.prefix(limit).reversed().map(HistoryMark.init(command:))
  }
}

extension HistoryMark {
  /// The mark of an event that an operator's command caused.
  fileprivate init(command stored: StoredEvent) {
    let (event, change) = (stored.event, stored.event.change)
    self.init()
    time = GoogleProtobuf.Timestamp(event.recordedAt)
    type = change.kind.rawValue
    explanation = "\(change.kind.sentence) By \(event.actor)."
    transactionId = change.subject?.transactionID ?? ""
    evidenceId = event.evidenceID?.rawValue
    sequence = stored.sequence
  }
}
