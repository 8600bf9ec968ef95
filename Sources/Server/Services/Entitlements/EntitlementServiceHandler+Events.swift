internal import AppStore
internal import Callers
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Events of a customer, as pages and as a stream, and unclaimed purchases.
extension EntitlementServiceHandler {
  /// Streams events within the limit of streams of the caller. Other customers' ids need the role `operate`.
  func watch(
    _ request: WatchRequest, _ responses: ResponseWriter<WatchResponse>, _ call: CallContext
  ) async throws(Status) {
    try await context.streams.limit.run(call) { () async throws(Status) in
      try await eventStream.watch(
        request, WatchWriter(responses) { $0 }, call, showsOtherCustomer: call.hasRole(.operate))
    }
  }

  /// The position of a page is the id of the last line of the previous page.
  /// Each purchase has its latest transaction, and the customers who are candidates as owners with the reasons.
  func listUnclaimedPurchases(
    _ request: ListUnclaimedPurchasesRequest, _ call: CallContext
  ) async throws(Status) -> ListUnclaimedPurchasesResponse {
    let (app, environment) = try context.scope(of: request)
    let (page, size) = try context.page(of: request)
    let response = try await context.readExpensively(call) { reader throws(StoreError) in
      let lines = try reader.unclaimedLines(
        of: app.id, in: environment, after: page.position, limit: size + 1)
      var response = ListUnclaimedPurchasesResponse()
      for line in lines.prefix(size) {
        guard let latest = try reader.facts(of: line).latestTransaction else { continue }
        response.transactions.append(Wire.Transaction(latest, of: app, environment: environment))
        response.candidates += try reader.ownerCandidates(of: line, with: latest).map(
          Wire.OwnerCandidate.init)
      }
      if lines.count > size { response.nextPageToken = page.token(after: lines[size - 1].lineID) }
      return response
    }
    CallScope.show(response.candidates.map(\.customerId), of: "unclaimed purchases")
    return response
  }
}
