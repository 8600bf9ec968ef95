internal import AppStore
internal import Markup
internal import Pages
internal import Wire

// The lane of messages to webhooks.
extension Lane {
  /// The deliveries of a timeline's events at the times at which the events were recorded; `nil` without one. A dead letter has
  /// a sign.
  init?(deliveriesIn timeline: ListTimelineResponse, at pointInTime: PointInTime) {
    let recorded = timeline.events.filter { pointInTime.includes($0) }.compactMap { event in
      event.recordedAt?.instant.map { (event.sequence, $0) }
    }
    let times = Dictionary(recorded) { first, _ in first }
    let marks = timeline.deliveries.compactMap { delivery in
      times[delivery.sequence].map { Mark(delivery, at: $0) }
    }.sorted { $0.at < $1.at }
    guard !marks.isEmpty else { return nil }
    self.init(
      name: Text.laneOperator, kind: Text.messages(marks.count), marks: marks.filter { !$0.sign.isEmpty },
      dots: marks.filter(\.sign.isEmpty))
  }
}

extension Lane.Mark {
  fileprivate init(_ delivery: EventDelivery, at instant: Instant) {
    let isLost = delivery.state == .deadLetter
    self.init(
      at: instant, sign: isLost ? "!" : "", tone: isLost ? .none : .ended,
      meaning: Text.delivery(delivery.webhook, delivery.stateName, delivery.sequence), source: 0)
  }
}

extension EventDelivery {
  /// The page of the message.
  func link(in scope: Scope) -> Link { DeliveryPage.link(webhook, .events, sequence, in: scope) }

  /// The state in words.
  var stateName: String { Format.value(state, "EVENT_DELIVERY_STATE_") }

  var tone: Tone {
    switch state {
    case .delivered: .full
    case .pending: .grace
    case .deadLetter: .none
    case .queued, .unspecified, .unrecognized: .ended
    }
  }
}
