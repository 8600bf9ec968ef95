internal import AppStore
internal import HTTP
internal import JSON

/// The Advanced Commerce API and the External Purchase Server API.
extension AppStoreSimulator {
  /// Answers a call of a path such as `v1/subscription/cancel/ID`.
  func advancedCommerce(_ call: ServerAPICall) throws -> JSONObject? {
    let path = call.path
    guard call.request.method == "POST", path.count == 4,
      let request = World.CommerceRequest(rawValue: path[2]),
      path[1] == (request == .requestRefund ? "transaction" : "subscription")
    else { throw ServerAPIError.generalBadRequest }
    let sold = try transaction(path[3], call)
    guard sold.ownership == .purchased else { throw ServerAPIError.familyTransactionNotSupported }
    let body = try call.body()
    guard let id = body["requestInfo"]?.objectValue?["requestReferenceId"]?.stringValue, isUUID(id) else {
      throw ServerAPIError.generalBadRequest
    }
    var members: JSONObject = [
      "transactionId": .string(String(sold.id)), "request": .string(request.rawValue),
    ]
    if request == .changePrice {
      let prices = body["items"]?.arrayValue?.compactMap { $0.objectValue?["price"]?.int64Value } ?? []
      guard !prices.isEmpty else { throw ServerAPIError.generalBadRequest }
      members["price"] = JSONValue(prices.reduce(0, +))
    }
    _ = try perform(.advancedCommerce, members, or: ServerAPIError.generalBadRequest)
    return try signed(sold.id)
  }

  /// How the purchase stands now, as these calls answer.
  private func signed(_ id: Int64) throws -> JSONObject {
    guard let sold = world.transactions[id] else { throw ServerAPIError.transactionIdNotFound }
    let line = world.lines[sold.originalID]
    let current = try line.flatMap(world.current(of:)).map(sign) ?? sign(sold)
    return JSONObject(present: [
      ("signedTransactionInfo", .string(current)),
      ("signedRenewalInfo", try line.map { .string(try sign($0)) }),
    ])
  }

  /// Send External Purchase Report, and Retrieve External Purchase Report.
  func externalPurchases(_ call: ServerAPICall) throws -> JSONObject? {
    let path = call.path
    guard path.count > 1, path[1] == "reports" else { throw ServerAPIError.generalBadRequest }
    switch (call.request.method, path.count) {
    case ("PUT", 2):
      let report = try call.body()
      guard let id = report["requestIdentifier"]?.stringValue, isUUID(id) else {
        throw ServerAPIError.invalidRequestIdentifier
      }
      _ = try perform(
        .externalPurchaseReport, Parameters(["app": .string(call.app.id), "report": .object(report)]))
      return ["requestIdentifier": .string(id)]
    case ("GET", 3):
      guard let report = world.externalReports[World.ReportName(app: call.app.id, identifier: path[2])] else {
        throw ServerAPIError.statusRequestNotFound
      }
      return report
    default: throw ServerAPIError.generalBadRequest
    }
  }
}
