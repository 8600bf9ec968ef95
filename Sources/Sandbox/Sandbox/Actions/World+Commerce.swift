internal import AppStore
internal import JSON

/// What developers do who set the prices themselves (Advanced Commerce), or sell outside of the App Store.
extension World {
  /// The requests of the Advanced Commerce API, as its paths name them.
  enum CommerceRequest: String, CaseIterable {
    case cancel, revoke, migrate, changePrice, changeMetadata, requestRefund
  }

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
      throw .notPossible("\(line.id) is over, or not paid for")
    }
    switch request {
    case .cancel: setAutoRenewal(false, of: line)
    case .revoke:
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

  /// Takes in what was sold outside of the App Store.
  mutating func performReport(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let app = try appID(parameters)
    guard let report = parameters.json["report"]?.objectValue else { throw .missingMember("report") }
    guard let id = report["requestIdentifier"]?.stringValue, !id.isEmpty else {
      throw .missingMember("requestIdentifier")
    }
    externalReports[ReportName(app: app, identifier: id)] = report
    return Outcome()
  }
}
