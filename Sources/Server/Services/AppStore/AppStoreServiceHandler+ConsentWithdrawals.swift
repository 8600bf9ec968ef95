internal import AppStore
internal import Bytes
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Withdrawn consents of parents or guardians, and their deadlines.
extension AppStoreServiceHandler {
  /// The position of a page is the time and the app install of the last withdrawal that the previous page read.
  func listConsentWithdrawals(
    _ request: ListConsentWithdrawalsRequest, _ call: CallContext
  ) async throws(Status) -> ListConsentWithdrawalsResponse {
    let app = try context.catalog.value.app(request.app)
    let (page, size) = try context.page(of: request)
    if let customer = request.customerId.given { return try await withdrawals(of: customer, app, request) }
    var query = ConsentWithdrawalFilter(appID: app.id, limit: size + 1)
    if request.environment != .unspecified { query.environment = try app.environment(request.environment) }
    query.onlyOpen = !request.includeSettled
    query.after = page.position.flatMap(TimedPosition.init)
    let found = try await context.read { [query] reader throws(StoreError) in
      try reader.consentWithdrawals(query).map { record throws(StoreError) in
        (record: record, customers: try record.customers(in: reader))
      }
    }
    CallScope.show(found.prefix(size).flatMap(\.customers), of: "withdrawn consents")
    return .with {
      $0.withdrawals = found.prefix(size).map { one in
        ConsentWithdrawal(one.record, of: one.customers, app, at: context.now(in: one.record.environment))
      }
      if found.count > size {
        let last = found[size - 1].record
        $0.nextPageToken = page.token(after: TimedPosition(last.withdrawnAt, last.appTransactionID))
      }
    }
  }

  /// All withdrawals of the app installs of a customer, or of the merge target, on one page, oldest first, because a
  /// customer has few installs.
  private func withdrawals(
    of customerID: String, _ app: AppDefinition, _ request: ListConsentWithdrawalsRequest
  ) async throws(Status) -> ListConsentWithdrawalsResponse {
    let environments =
      request.environment == .unspecified
      ? app.environments : [try app.environment(request.environment)]
    let found = try await context.read { reader throws(StoreError) in
      var found: [(record: ConsentWithdrawalRecord, customers: [String])] = []
      for environment in environments {
        let customer = try reader.finalMergeTarget(
          of: CustomerKey(appID: app.id, environment: environment, customerID: customerID))
        for install in (try reader.facts(of: customer) ?? CustomerFacts()).appInstalls.sorted() {
          let record = try reader.consentWithdrawal(install, of: app.id, in: environment)
          guard let record, request.includeSettled || !record.isSettled else { continue }
          found.append((record, try record.customers(in: reader)))
        }
      }
      return found
    }
    CallScope.show(found.flatMap(\.customers))
    return .with {
      $0.withdrawals = found.sorted { $0.record.withdrawnAt < $1.record.withdrawnAt }.map { one in
        ConsentWithdrawal(one.record, of: one.customers, app, at: context.now(in: one.record.environment))
      }
    }
  }

  /// Settles a withdrawal. A second settlement stores nothing, which `already_settled` reports.
  func settleConsentWithdrawal(
    _ request: SettleConsentWithdrawalRequest, _ call: CallContext
  ) async throws(Status) -> SettleConsentWithdrawalResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.given(request.appTransactionId, "app_transaction_id")
    let scope = try CommandScope(request, in: app)
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.settleConsentWithdrawal(of: request.appTransactionId, scope)
    } response: { outcome in
      .with {
        $0.alreadySettled = outcome.evidenceID == nil
        $0.settlementEvidenceId = outcome.evidenceID?.rawValue
      }
    }
  }
}

extension ConsentWithdrawalRecord {
  /// The owners of the app install and of the purchases made through it, each once.
  fileprivate func customers(in reader: any StoreSnapshot) throws(StoreError) -> [String] {
    var owners: [String] = []
    let lines =
      try reader.lines(withAppTransactionID: appTransactionID)
      + reader.lines(ofAppInstall: appTransactionID, of: appID, in: environment)
    for line in lines where line.appID == appID && line.environment == environment {
      for owner in try reader.owners(of: line) where !owners.containsID(owner) { owners.append(owner) }
    }
    return owners
  }
}

extension ConsentWithdrawal {
  fileprivate init(
    _ record: ConsentWithdrawalRecord, of customers: [String], _ app: AppDefinition, at now: Instant
  ) {
    let deadline = app.settleBy(withdrawnAt: record.withdrawnAt)
    self.init()
    appTransactionId = record.appTransactionID
    environment = Wire.Environment(record.environment)
    customerIds = customers
    withdrawnAt = GoogleProtobuf.Timestamp(record.withdrawnAt)
    settleBy = GoogleProtobuf.Timestamp(deadline)
    state = record.isSettled ? .settled : deadline <= now ? .overdue : .open
    settledAt = record.settledAt.map(GoogleProtobuf.Timestamp.init)
    evidenceId = record.evidenceID.rawValue
    settlementEvidenceId = record.settlementID?.rawValue
    endsAccess = app.rescindConsent == .endAccess
  }
}

extension CustomerFacts {
  /// The app installs of the customer and of their purchases, by `appTransactionId`.
  fileprivate var appInstalls: Set<String> {
    Set(appTransactions.map(\.appTransactionID) + transactions.compactMap(\.details.appTransactionID))
  }
}
