internal import AppStore
internal import Bytes
internal import Callers
internal import Entitlements
internal import FamilySharing
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// One purchase with everything that is stored about it.
extension CustomerServiceHandler {
  /// The greatest number of transactions, ownership changes, events, notifications and seats: of more, the latest, but
  /// the first notifications.
  private static let limit = 1_000

  /// Returns the purchase that the id names, also by the id of a later transaction.
  ///
  /// - Throws: `UNKNOWN_PURCHASE`, also for the id of a grant or a seat.
  func getPurchase(
    _ request: GetPurchaseRequest, _ call: CallContext
  ) async throws(Status) -> GetPurchaseResponse {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
    let line = LineKey(appID: app.id, environment: environment, lineID: request.originalTransactionId)
    let mayOperate = call.hasRole(.operate)
    let found = try await context.readExpensively(call) {
      reader throws(StoreError) -> GetPurchaseResponse? in
      guard let line = try reader.purchase(line) else { return nil }
      return try GetPurchaseResponse(
        line, in: app, showsOtherCustomer: mayOperate, limit: Self.limit, reader)
    }
    guard let found else {
      throw Status(LedgerError.unknownPurchase(originalTransactionID: request.originalTransactionId))
    }
    let customers =
      found.customerIds + found.ownershipChanges.map(\.customerId) + found.seats.map(\.customerId)
    CallScope.show(customers, of: "purchase \(found.originalTransactionId)")
    return found
  }
}

extension StoreSnapshot {
  /// The purchase with this id, or with a transaction of this id; `nil` if there is none.
  fileprivate func purchase(_ line: LineKey) throws(StoreError) -> LineKey? {
    guard line.isPurchase else { return nil }
    if try !facts(of: line).transactions.isEmpty { return line }
    return try transaction(line.lineID, of: line.appID, in: line.environment)
      .map { line.other($0.originalTransactionID) }
  }

  /// The latest events about a purchase of these customers, in order.
  fileprivate func events(
    about line: LineKey, of customerIDs: [String], limit: Int
  ) throws(StoreError) -> [StoredEvent] {
    var found: [StoredEvent] = []
    for id in customerIDs {
      var last: Int64 = 0
      while true {
        let page = try events(of: line.customer(id), after: last, limit: limit)
        found += page.filter { $0.event.change.subject?.originalTransactionID == line.lineID }
        guard page.count == limit, let end = page.last?.sequence else { break }
        last = end
      }
    }
    return found.sorted { $0.sequence < $1.sequence }.suffix(limit)
  }
}

extension GetPurchaseResponse {
  /// Collects what one snapshot has about the purchase.
  fileprivate init(
    _ line: LineKey, in app: AppDefinition, showsOtherCustomer: Bool, limit: Int, _ reader: any StoreSnapshot
  ) throws(StoreError) {
    self.init()
    originalTransactionId = line.lineID
    environment = Wire.Environment(line.environment)
    customerIds = try reader.owners(of: line)
    let facts = try reader.facts(of: line)
    transactions = try facts.transactions.suffix(limit).map { fact throws(StoreError) in
      let key = DecidingFact.transaction(fact.transactionID, ofLine: line.lineID)
      let evidence = try reader.evidence(of: key, of: line.customer(""))
      return .with {
        $0.transaction = Wire.Transaction(fact, of: app, environment: line.environment)
        $0.evidenceId = evidence?.rawValue
      }
    }
    renewalInfo = facts.renewals.last.map { Wire.RenewalInfo($0, environment: line.environment) }
    let changes = try reader.ownershipChanges(ofLine: line).suffix(limit)
    ownershipChanges = try changes.map { change throws(StoreError) in
      Wire.OwnershipChange(change, try reader.evidence(change.evidenceID)?.evidence)
    }
    // A refused claim is in the timeline of its claimant, and in that of the owner.
    events = try reader.events(
      about: line, of: (customerIds + changes.map(\.customerID)).distinctIDs, limit: limit
    ).map { EntitlementEvent($0, in: app, showsOtherCustomer: showsOtherCustomer) }
    let owner = customerIds.first
    notifications = try reader.notifications(
      about: line, from: .distantPast, to: .distantFuture, limit: limit
    ).map { Wire.Notification($0, customerID: owner) }
    seats = try reader.seats(of: line).suffix(limit).map { seat throws(StoreError) in
      PurchaseSeat(seat, holder: try reader.owners(of: line.other(seat.seatID)).first)
    }
    nextPollAt = try reader.nextPoll(of: line).map(GoogleProtobuf.Timestamp.init)
    pendingLookup = try reader.pendingRefresh(of: line).map(PendingLookup.init)
  }
}

extension Wire.OwnershipChange {
  /// A link or its end, with the operator's command that caused it, if one did.
  fileprivate init(_ change: Store.OwnershipChange, _ evidence: Store.Evidence?) {
    let subject = evidence.map(EvidenceSubject.init)
    self.init()
    customerId = change.customerID
    linked = change.gained
    time = GoogleProtobuf.Timestamp(change.at)
    evidenceId = change.evidenceID.rawValue
    kind = subject?.word ?? ""
    actor = subject?.command?.actor ?? ""
  }
}

extension PurchaseSeat {
  /// A seat, also a released one; `holder` is `nil` then.
  fileprivate init(_ seat: FamilySharing.Seat, holder: String?) {
    self.init()
    seatId = seat.seatID
    customerId = holder ?? ""
    claimedAt = GoogleProtobuf.Timestamp(seat.claimedAt)
    releasedAt = seat.releasedAt.map(GoogleProtobuf.Timestamp.init)
  }
}

extension PendingLookup {
  fileprivate init(_ refresh: PendingRefresh) {
    self.init()
    attempts = Int32(clamping: refresh.attempts)
    nextAttemptAt = GoogleProtobuf.Timestamp(refresh.dueAt)
    reason = refresh.reason
  }
}
