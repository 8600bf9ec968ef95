internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The subject of an action, above its form and its preview.
enum ActionSubject {
  /// Draws what the form itself does not show: the refund request that is answered, otherwise the customer in a hidden
  /// field.
  static func markup(_ action: ActionName, _ definition: Action, _ call: ActionCall) async -> Markup {
    if action == .answerRefund { return await refund(call) }
    let isHidden = definition.fields.contains { $0.name == "customer" && $0.isHidden }
    guard isHidden, let customer = call.form["customer"].given else { return "" }
    return Table.properties([(Text.customer, call.scope.customerLink(customer))])
  }

  /// The refund request about the transaction of the form, with what was bought and the time that is left.
  private static func refund(_ call: ActionCall) async -> Markup {
    let transaction = call.form["transaction"]
    guard !transaction.isEmpty else { return "" }
    let answer = await call.visit.attempt(
      Calls.listConsumptionRequests,
      .page(RequestedRows(size: 1_000), in: call.scope) {
        // The settled ones of all customers are too many.
        if call.form["customer"].isEmpty { $0.state = .open }
        $0.customerId = call.form["customer"]
      })
    switch answer {
    case .failure(let status) where status.code == .permissionDenied: return ""
    case .failure(let status): return Part.failure(status, of: Text.refundRequests)
    case .success(let response):
      let found = response.requests.filter { $0.transactionId == transaction }
      guard let request = found.first(where: { $0.state == .open }) ?? found.first else {
        return "<p class=\"notice\">\(Text.noRequest(transaction))</p>\n"
      }
      return await properties(of: request, call)
    }
  }

  private static func properties(of request: Wire.ConsumptionRequest, _ call: ActionCall) async -> Markup {
    let purchase = await call.visit.attempt(
      Calls.getPurchase,
      .about(call.scope) {
        $0.originalTransactionId = request.originalTransactionId
      })
    let sold = (try? purchase.get())?.transactions.compactMap(\.transaction)
      .first { $0.transactionId == request.transactionId }
    let now = try? await call.visit.time(in: call.scope)
    return Table.properties([
      (Text.productHead, Format.name(request.productId)),
      (Text.purchase, call.scope.purchaseLink(request.originalTransactionId)),
      (Text.customer, call.scope.customerLink(request.customerId)),
      (Text.bought, sold?.purchaseDate.map { Format.time($0) }),
      (Text.price, sold?.price.map { "\(Format.money($0))" }),
      (Text.asked, Format.time(request.requestedAt)),
      (Text.reason, request.reason.given.map { "\(Text.refundReason($0))" }),
      (Text.state, RefundRow.state(request)),
      (Text.timeLeft, now.flatMap { RefundRow.timeLeft(request, at: $0) }.map { "\($0)" }),
    ])
  }
}
