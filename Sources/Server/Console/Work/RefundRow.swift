internal import AppStore
internal import Markup
internal import Pages
internal import Wire

/// A consumption request in a table.
enum RefundRow {
  static let heads = [
    Text.state, Text.productHead, Text.customer, Text.asked, Text.reason, Text.timeLeft, Text.actions,
  ]

  /// The button that answers an open request.
  static func answer(_ request: Wire.ConsumptionRequest, _ scope: Scope, _ visit: Visit) -> Markup {
    guard request.state == .open, ActionName.answerRefund.isOpen(to: visit) else { return "" }
    let values = [
      ("transaction", request.transactionId as String?), ("customer", request.customerId.given),
      ("consumed", request.consumptionPercentage.map { String($0 / 1_000) }),
    ]
    return "<a class=\"button\" href=\"\(scope.action(.answerRefund, values))\">\(Text.answerThis)…</a>"
  }

  static func cells(_ request: Wire.ConsumptionRequest, _ scope: Scope, at now: Instant, actions: Markup)
    -> [Markup]
  {
    [
      state(request),
      "\(Format.name(request.productId)) <a href=\"\(scope.purchase(request.originalTransactionId))\">\(request.transactionId)</a>",
      scope.customerLink(request.customerId), Format.time(request.requestedAt),
      "\(Text.refundReason(request.reason))", "\(timeLeft(request, at: now) ?? "")", actions,
    ]
  }

  /// The time that is left to answer; `nil` if the request is not open.
  static func timeLeft(_ request: Wire.ConsumptionRequest, at now: Instant) -> String? {
    guard request.state == .open else { return nil }
    return request.answerBy?.instant.map { Format.span(max(0, $0.milliseconds(since: now))) }
  }

  /// The state, with what the request waits for or why it was not answered.
  static func state(_ request: Wire.ConsumptionRequest) -> Markup {
    let tone: Tone =
      switch request.state {
      case .open: .grace
      case .missed, .rejected: .none
      case .answered, .decided, .unspecified, .unrecognized: .ended
      }
    let cause: Markup =
      request.stateReason.given.map { code in
        Text.cause(ofRequest: code).map { " \($0)" } ?? " <code>\(code)</code>"
      } ?? ""
    return Part.chip(Format.value(request.state, "CONSUMPTION_REQUEST_STATE_"), tone) + cause
  }
}

extension Wire.ConsumptionRequest {
  /// The request at a page's point in time: open until it was settled; `nil` before it arrived.
  func known(at pointInTime: PointInTime) -> Self? {
    guard pointInTime.includes(requestedAt) else { return nil }
    guard let settledAt, !pointInTime.includes(settledAt) else { return self }
    var request = self
    request.state = .open
    request.stateReason = ""
    request.settledAt = nil
    return request
  }
}
