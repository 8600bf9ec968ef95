internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Consumables that the operator delivers.
extension EntitlementServiceHandler {
  /// The position of a page is the transaction id of the last purchase of the previous page.
  /// Purchases before the app's `fulfillment_since` are not listed. The id of a merged customer selects those of the merge
  /// target.
  func listUnfulfilledPurchases(
    _ request: ListUnfulfilledPurchasesRequest, _ call: CallContext
  ) async throws(Status) -> ListUnfulfilledPurchasesResponse {
    let (app, environment) = try context.scope(of: request)
    let size = try RequestValidation.pageSize(request.pageSize)
    var filter = UnfulfilledFilter(
      appEnvironment: AppEnvironment(appID: app.id, environment: environment), limit: size + 1)
    filter.customerID = request.customerId.given
    filter.boughtSince = app.fulfillmentSince
    let page = try context.pageTokens.page(request)
    filter.after = page.position ?? ""
    let response = try await context.readExpensively(call) { [filter] reader throws(StoreError) in
      var filter = filter
      filter.customerID = try reader.finalMergeTarget(of: filter.customerID, in: filter.appEnvironment)
      let found = try reader.unfulfilled(filter)
      var response = ListUnfulfilledPurchasesResponse()
      for (record, customerID) in found.prefix(size) {
        let fact = try reader.transaction(record.transactionID, of: app.id, in: environment)
        response.purchases.append(
          .with {
            $0.customerId = customerID
            $0.transaction = fact.map { Wire.Transaction($0, of: app, environment: environment) }
            $0.units = record.due
          })
      }
      if found.count > size {
        response.nextPageToken = page.token(after: found[size - 1].record.transactionID)
      }
      return response
    }
    CallScope.show(response.purchases.map(\.customerId), of: "unfulfilled purchases")
    return response
  }

  /// Records a delivery. `fulfillment_id` makes it idempotent without a key: a repeated id changes nothing. Negative
  /// units are taken back; without units, those that are due count.
  ///
  /// - Throws: `UNKNOWN_CONSUMABLE`; `ALREADY_FULFILLED` if fewer units are due; `INVALID_FIELD` for 0 units, and for a
  ///   repeated id with other units.
  func acknowledgeFulfillment(
    _ request: AcknowledgeFulfillmentRequest, _ call: CallContext
  ) async throws(Status) -> AcknowledgeFulfillmentResponse {
    let request = request.attributed(to: call)
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.given(request.transactionId, "transaction_id")
    try RequestValidation.given(request.fulfillmentId, "fulfillment_id")
    guard request.units != 0 else {
      throw .invalidField("units", "units is 0; leave it unset for the units that are due")
    }
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(request.environment), actor: request.actor)
    let record = try await mapLedgerError { () async throws(LedgerError) in
      try await context.ledger.acknowledgeFulfillment(
        of: request.transactionId, as: request.fulfillmentId, units: request.units, scope)
    }
    return .with {
      $0.fulfilledUnits = record.fulfilled
      $0.unitsDue = record.due
    }
  }
}
