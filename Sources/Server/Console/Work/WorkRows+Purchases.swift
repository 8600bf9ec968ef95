internal import Markup
internal import Pages
internal import RPC
internal import Wire

// Purchases that wait for a decision.
extension WorkRows {
  static func refunds(
    _ page: RequestedRows, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let now = try await visit.time(in: scope)
    let response = try await visit.call(
      Calls.listConsumptionRequests,
      .page(page, in: scope) {
        $0.state = .open
      })
    let rows = response.requests.map { request in
      Row(
        cells: RefundRow.cells(
          request, scope, at: now, actions: RefundRow.answer(request, scope, visit)),
        values: [
          Format.value(request.state, "CONSUMPTION_REQUEST_STATE_"), request.productId, request.transactionId,
          request.originalTransactionId, request.customerId, request.requestedAt.text, request.answerBy.text,
          request.reason, request.stateReason,
        ])
    }
    return WorkRows(rows: rows, next: response.nextPageToken)
  }

  static func unclaimed(
    _ page: RequestedRows, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let response = try await visit.call(Calls.listUnclaimedPurchases, .page(page, in: scope))
    let rows = response.transactions.map { transaction in
      let id = transaction.originalTransactionId
      let candidates = response.candidates.filter { $0.originalTransactionId == id }
      let names = candidates.map { candidate in
        "\(scope.customerLink(candidate.customerId)) <span class=\"quiet\">\(Format.words(candidate.reason))</span>"
          as Markup
      }
      let values = [("purchase", id as String?), ("customer", candidates.first?.customerId)]
      let link: Markup =
        visit.mayCall(Calls.linkPurchase)
        ? "<a class=\"button\" href=\"\(scope.action(.link, values))\">\(ActionName.link.title)…</a>" : ""
      return Row(
        cells: [
          scope.purchaseLink(id), Format.name(transaction.productId),
          Format.time(transaction.purchaseDate), "\(transaction.price.map(Format.money) ?? "")",
          transaction.appAccountToken.isEmpty ? "" : Format.id(transaction.appAccountToken),
          names.joined(separator: "<br>"), link,
        ],
        values: [
          id, transaction.productId, transaction.purchaseDate.text,
          transaction.price.map { String($0.milliunits) } ?? "", transaction.price?.currency ?? "",
          transaction.appAccountToken, candidates.map(\.customerId).joined(separator: " "),
        ])
    }
    return WorkRows(rows: rows, next: response.nextPageToken)
  }
}
