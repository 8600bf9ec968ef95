internal import AppStore
internal import Bytes
internal import HTTP
internal import JSON

/// The Advanced Commerce API and the External Purchase Server API.
extension AppStoreSimulator {
  /// Handles paths such as `v1/subscription/cancel/ID`.
  ///
  /// - Returns: the signed state of the purchase after the request.
  /// - Throws: ``ServerAPIError/generalBadRequest`` for what Apple's documentation does not allow; Apple's own codes
  ///   are not public.
  func advancedCommerce(_ call: ServerAPICall) throws -> JSONObject? {
    let path = call.path
    guard call.request.method == "POST", path.count == 4,
      let request = World.CommerceRequest(rawValue: path[2]),
      path[1] == (request == .requestRefund ? "transaction" : "subscription")
    else { throw ServerAPIError.generalBadRequest }
    let sold = try transaction(path[3], call)
    guard sold.ownership == .purchased else { throw ServerAPIError.familyTransactionNotSupported }
    let body = try call.body()
    guard let id = body["requestInfo"]?.objectValue?["requestReferenceId"]?.stringValue, id.isUUID else {
      throw ServerAPIError.generalBadRequest
    }
    try CommerceValidation.check(request, body)
    var members: JSONObject = [
      "transactionId": .string(String(sold.id)), "request": .string(request.rawValue),
    ]
    if request == .changePrice {
      let prices = body["items"]?.arrayValue?.compactMap { $0.objectValue?["price"]?.int64Value } ?? []
      members["price"] = JSONValue(prices.reduce(0, +))
    }
    // Revoke Subscription can revoke a number of seats (StoreKit: AdvancedCommerceInfo.Refund.revokedSeatQuantity).
    if request == .revoke { members["seats"] = body["revokeSeatQuantity"] }
    _ = try perform(.advancedCommerce, members, or: ServerAPIError.generalBadRequest)
    return try signed(sold.id)
  }

  /// Returns the signed current state of a purchase, which is the response to these calls.
  private func signed(_ id: Int64) throws -> JSONObject {
    guard let sold = world.transaction(id) else { throw ServerAPIError.transactionIdNotFound }
    let line = world.lines[sold.originalID]
    let current = try line.flatMap(world.current(of:)).map(sign) ?? sign(sold)
    return JSONObject(present: [
      ("signedTransactionInfo", .string(current)),
      ("signedRenewalInfo", try line.map { .string(try sign($0)) }),
    ])
  }

  /// Handles Send External Purchase Report and Retrieve External Purchase Report.
  ///
  /// - Throws: ``ServerAPIError/duplicateValue`` for another report with an identifier that was accepted before.
  func externalPurchases(_ call: ServerAPICall) throws -> JSONObject? {
    let path = call.path
    guard path.count > 1, path[1] == "reports" else { throw ServerAPIError.generalBadRequest }
    switch (call.request.method, path.count) {
    case ("PUT", 2):
      let report = try call.body()
      guard let id = report["requestIdentifier"]?.stringValue, id.isUUID else {
        throw ServerAPIError.invalidRequestIdentifier
      }
      // A report that was accepted has its identifier for good; the same one again changes nothing.
      if let accepted = world.externalReports[World.ReportName(app: call.app.id, identifier: id)] {
        guard accepted == report else { throw ServerAPIError.duplicateValue }
        return ["requestIdentifier": .string(id)]
      }
      let token = report["externalPurchaseId"]?.stringValue.flatMap { world.externalTokens[$0] }
      try ExternalReportValidation.check(report, of: token?.app == call.app.id ? token : nil)
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

/// The effects of Advanced Commerce requests.
extension World {
  /// The requests of the Advanced Commerce API; the raw values are path components.
  enum CommerceRequest: String, CaseIterable {
    case cancel, revoke, migrate, changePrice, changeMetadata, requestRefund
  }

  /// Performs an Advanced Commerce request on a purchase. Metadata and migrations have no effect but their
  /// notifications.
  mutating func performCommerce(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let sold = try transaction(parameters)
    let name = try parameters.choice("request", of: CommerceRequest.allCases.map(\.rawValue))
    guard let request = CommerceRequest(rawValue: name) else { return Outcome() }
    if request == .requestRefund {
      try refund(sold, .other, percentage: nil)
      return Outcome(transactions: [sold.id])
    }
    guard var line = lines[sold.originalID] else { throw .notASubscription(String(sold.id)) }
    guard line.source == nil, line.isRunning else {
      throw .notPossible("subscription \(line.id) is over or shared from another account")
    }
    switch request {
    case .cancel: setAutoRenewal(false, of: line)
    case .revoke:
      if parameters.json["seats"] != nil {
        try refundSeats(parameters.integer("seats", in: 1...Self.maxSeats), of: line)
        break
      }
      guard let current = current(of: line) else { return Outcome() }
      try refund(current, .other, percentage: nil)
    case .migrate: notify(.migration, of: line)
    case .changePrice:
      line.renewalPrice = try parameters.integer("price", in: 0...1_000_000_000)
      put(line)
      notify(.priceChange, of: line)
    case .changeMetadata: notify(.metadataUpdate, of: line)
    case .requestRefund: break
    }
    return Outcome(transactions: [lines[line.id]?.current ?? line.current])
  }
}
