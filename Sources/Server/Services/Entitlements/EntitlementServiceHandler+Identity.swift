internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import ReceiptMigration
internal import Store
internal import Wire

// Links between purchases and customers.
extension EntitlementServiceHandler {
  /// Links a purchase to a customer. Without a policy, that of the app decides about a purchase with an owner.
  ///
  /// - Throws: `UNKNOWN_PURCHASE`, and `OWNED_BY_ANOTHER_CUSTOMER` under the policy `keep`.
  func linkPurchase(
    _ request: LinkPurchaseRequest, _ call: CallContext
  ) async throws(Status) -> LinkPurchaseResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.customerID(request.customerId)
    try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
    let scope = try CommandScope(request, in: app, isDryRun: request.dryRun)
    let policy = try Entitlements.OwnershipPolicy(request.policy) ?? app.ownershipPolicy
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.move(
        request.originalTransactionId, to: request.customerId, policy: policy, scope)
    } response: { outcome in
      .with {
        $0.transferId = request.dryRun ? "" : outcome.transferID
        $0.previousCustomerId = outcome.previousCustomerIDs.first ?? ""
        $0.events = outcome.events(in: app, isDryRun: request.dryRun)
      }
    }
  }

  /// Binds a token to a customer, and returns the unclaimed purchases that it linked.
  ///
  /// - Throws: `TOKEN_OF_ANOTHER_CUSTOMER` for a token that is bound to another customer, `INVALID_FIELD` for a text
  ///   that is no UUID.
  func registerAppAccountToken(
    _ request: RegisterAppAccountTokenRequest, _ call: CallContext
  ) async throws(Status) -> RegisterAppAccountTokenResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.customerID(request.customerId)
    try RequestValidation.given(request.appAccountToken, "app_account_token")
    let scope = try CommandScope(request, in: app, isDryRun: request.dryRun)
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.registerToken(request.appAccountToken, of: request.customerId, scope)
    } response: { outcome in
      .with {
        $0.originalTransactionIds = outcome.lines
        $0.events = outcome.events(in: app, isDryRun: request.dryRun)
      }
    }
  }

  /// Moves a purchase from one customer to another; unlike ``linkPurchase(_:_:)``, it fails if the first is not an
  /// owner.
  ///
  /// - Throws: `UNKNOWN_PURCHASE`; `NOT_THE_OWNER`; `OWNED_BY_ANOTHER_CUSTOMER` under the policy `keep`.
  func transferPurchase(
    _ request: TransferPurchaseRequest, _ call: CallContext
  ) async throws(Status) -> TransferPurchaseResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
    try RequestValidation.given(request.fromCustomerId, "from_customer_id")
    try RequestValidation.given(request.toCustomerId, "to_customer_id")
    let scope = try CommandScope(request, in: app, isDryRun: request.dryRun)
    // A transfer request without a policy asks for a transfer.
    let policy = try Entitlements.OwnershipPolicy(request.policy) ?? .transfer
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.move(
        request.originalTransactionId, from: request.fromCustomerId, to: request.toCustomerId,
        policy: policy, scope)
    } response: { outcome in
      .with {
        $0.transferId = request.dryRun ? "" : outcome.transferID
        $0.events = outcome.events(in: app, isDryRun: request.dryRun)
      }
    }
  }

  /// Merges one customer into another. The ledger checks both ids.
  ///
  /// - Throws: `INVALID_FIELD` if both are the same customer.
  func mergeCustomers(
    _ request: MergeCustomersRequest, _ call: CallContext
  ) async throws(Status) -> MergeCustomersResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    let scope = try CommandScope(request, in: app, isDryRun: request.dryRun)
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.merge(request.fromCustomerId, into: request.intoCustomerId, scope)
    } response: { outcome in
      .with {
        $0.transferId = request.dryRun ? "" : outcome.transferID
        $0.originalTransactionIds = outcome.lines
        $0.events = outcome.events(in: app, isDryRun: request.dryRun)
      }
    }
  }

  /// Reverses a link, transfer or merge by its id, which also determines the environment.
  ///
  /// - Throws: `UNKNOWN_TRANSFER`, and `TRANSFER_CONFLICT` if one of its purchases was moved again.
  func undoTransfer(
    _ request: UndoTransferRequest, _ call: CallContext
  ) async throws(Status) -> UndoTransferResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.given(request.transferId, "transfer_id")
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(.unspecified), actor: request.actor,
      note: request.note, isDryRun: request.dryRun)
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.undo(request.transferId, scope)
    } response: { outcome in
      .with { $0.events = outcome.events(in: app, isDryRun: request.dryRun) }
    }
  }

  /// Erases a customer from uploaded inputs of migrations, which may name a customer that the store does not have, and then
  /// from the store, which leads to the tokens. A dry run counts the rows only. It needs no idempotency key, because a
  /// second erasure changes nothing.
  ///
  /// - Throws: `UNKNOWN_CUSTOMER`, also if only an upload named the customer: the upload is erased then.
  func eraseCustomer(
    _ request: EraseCustomerRequest, _ call: CallContext
  ) async throws(Status) -> EraseCustomerResponse {
    let request = request.attributed(to: call)
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.customerID(request.customerId)
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(request.environment), actor: request.actor,
      note: request.note, isDryRun: request.dryRun)
    let outcome: CommandResult
    do throws(LedgerError) {
      outcome = try await context.ledger.erase(request.customerId, scope) {
        [migrations = context.intake.migrations] result async throws(LedgerError) in
        try await migrations.eraseUploads(
          of: app.id, naming: result.erasures.map(\.customerID), tokens: result.erasedTokens)
      }
    } catch {
      if case .unknownCustomer = error, !request.dryRun {
        let customer = CustomerKey(
          appID: app.id, environment: scope.environment, customerID: request.customerId)
        try await mapLedgerError { () async throws(LedgerError) in try await eraseUploads(naming: customer) }
      }
      throw Status(error)
    }
    return .with {
      $0.erasedRows = outcome.erasedRows
      guard !request.dryRun else { return }
      $0.erasedAt = GoogleProtobuf.Timestamp(context.now(in: scope.environment))
      $0.pseudonym = outcome.erasures.first?.pseudonym ?? ""
    }
  }

  /// Erases a customer that the store does not have in uploads, which may name it. The list has the customer before the
  /// first line is overwritten: another call would not find that line any more.
  private func eraseUploads(naming customer: CustomerKey) async throws(LedgerError) {
    try await context.ledger.eraseUnknown(customer) {
      [migrations = context.intake.migrations] beforeFirst async throws(LedgerError) in
      try await migrations.eraseUploads(
        of: customer.appID, naming: [customer.customerID], tokens: [String](), beforeFirst: beforeFirst)
    }
  }
}

extension Entitlements.OwnershipPolicy {
  /// `nil` if the request has no policy.
  init?(_ policy: Wire.OwnershipPolicy) throws(Status) {
    switch policy {
    case .unspecified: return nil
    case .keep: self = .keep
    case .transfer: self = .transfer
    case .share: self = .share
    case .unrecognized: throw .unknownValue(of: "policy")
    }
  }
}
