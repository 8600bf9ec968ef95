internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Customers whose facts contradict each other or the catalog.
extension CustomerServiceHandler {
  /// Lists the contradictions of marked customers by id, or of the requested customer's merge target. A page of marked
  /// customers may have no contradiction left, and still have a next page. The position of a page is the id of the last
  /// customer of the previous page.
  func listContradictions(
    _ request: ListContradictionsRequest, _ call: CallContext
  ) async throws(Status) -> ListContradictionsResponse {
    let (app, environment) = try context.scope(of: request)
    let (page, size) = try context.page(of: request)
    let now = context.now(in: environment)
    let response = try await context.readExpensively(call) {
      reader throws(StoreError) -> ListContradictionsResponse in
      var response = ListContradictionsResponse()
      guard request.customerId.isEmpty else {
        let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
        response.contradictions = try reader.contradictions(
          of: reader.finalMergeTarget(of: key), in: app, at: now)
        return response
      }
      let marked = try reader.contradictoryCustomers(
        of: app.id, in: environment, after: page.position, limit: size + 1)
      // Time may have ended a contradiction since it was marked.
      for customer in marked.prefix(size) {
        response.contradictions += try reader.contradictions(of: customer, in: app, at: now)
      }
      if marked.count > size { response.nextPageToken = page.token(after: marked[size - 1].customerID) }
      return response
    }
    CallScope.show(response.contradictions.map(\.customerId), of: "contradictions")
    return response
  }
}

extension StoreSnapshot {
  /// The contradictions among the facts of a customer now.
  fileprivate func contradictions(
    of customer: CustomerKey, in app: AppDefinition, at now: Instant
  ) throws(StoreError) -> [CustomerContradiction] {
    let facts = try facts(of: customer) ?? CustomerFacts()
    return Contradiction.all(facts.withoutCopies, in: app, at: now).map { contradiction in
      .with {
        $0.customerId = customer.customerID
        $0.kind = contradiction.kind.rawValue
        $0.transactionId = contradiction.transactionID
        $0.explanation = contradiction.sentence
      }
    }
  }
}
