internal import AppStore
internal import Entitlements
internal import RPC
internal import Store
internal import Wire

// Repairs and their reports as messages of the contract.

extension Wire.Repair {
  /// `drifted` is the number of customers with drift.
  init(_ repair: Store.Repair, drifted: Int64) {
    self.init()
    repairId = String(repair.id)
    app = repair.appID
    environment = Wire.Environment(repair.environment)
    reason = Wire.RepairReason(repair.reason)
    phase = Wire.RepairPhase(repair.phase)
    startTime = GoogleProtobuf.Timestamp(repair.from)
    endTime = GoogleProtobuf.Timestamp(repair.to)
    onlyFailures = repair.onlyFailures
    startedAt = GoogleProtobuf.Timestamp(repair.startedAt)
    finishedAt = repair.finishedAt.map(GoogleProtobuf.Timestamp.init)
    received = repair.received
    alreadyKnown = repair.alreadyKnown
    queriedPurchases = repair.queriedPurchases
    driftedCustomers = repair.finishedAt == nil ? 0 : drifted
    error = [repair.partialError, repair.error].filter { !$0.isEmpty }.joined(separator: "; ")
  }
}

extension Wire.RepairReason {
  fileprivate init(_ reason: Store.Repair.Reason) {
    switch reason {
    case .downtime: self = .downtime
    case .deliveryGap: self = .deliveryGap
    case .scheduled: self = .scheduled
    case .manual: self = .manual
    case .fullPoll: self = .fullPoll
    }
  }
}

extension Wire.RepairPhase {
  fileprivate init(_ phase: Store.Repair.Phase) {
    switch phase {
    case .history: self = .history
    case .customers: self = .customers
    case .comparison: self = .comparison
    case .done: self = .done
    }
  }
}

extension Wire.Drift {
  /// `app` is the current definition of the app.
  init(_ drift: Store.Drift, in app: AppDefinition) {
    self.init()
    customerId = drift.customer.customerID
    entitlement = drift.entitlement
    detectedAt = GoogleProtobuf.Timestamp(drift.detectedAt)
    before = Entitlement(drift.before, of: drift.entitlement, in: app, at: drift.detectedAt)
    after = drift.after.map { Entitlement($0, of: drift.entitlement, in: app, at: drift.detectedAt) }
  }
}

extension Store.Drift.Key {
  /// Decodes ``position``.
  ///
  /// - Throws: `INVALID_PAGE_TOKEN`.
  init(position: String) throws(Status) {
    guard let end = position.firstIndex(of: "\n") else { throw .invalidPageToken }
    self.init(
      customerID: String(position[position.index(after: end)...]), entitlement: String(position[..<end]))
  }

  /// The position of the page that starts after this key. The entitlement is first, because a customer id may contain a
  /// line feed.
  var position: String { "\(entitlement)\n\(customerID)" }
}
