internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// The methods of `entitled.v1.EntitlementService` that say whose purchases are.
struct IdentityService: Sendable {
  private let ledger: EvidenceLedger
  private let catalog: CurrentCatalog
  private let now: @Sendable () -> Instant

  init(ledger: EvidenceLedger, catalog: CurrentCatalog, now: @escaping @Sendable () -> Instant) {
    self.ledger = ledger
    self.catalog = catalog
    self.now = now
  }

  var methods: [Method] {
    [
      .waitingUnary("/\(EntitlementService.name)/LinkPurchase") {
        (request: LinkPurchaseRequest, context) async throws(Status) in
        try await link(request.by(context))
      },
      .waitingUnary("/\(EntitlementService.name)/MergeCustomers") {
        (request: MergeCustomersRequest, context) async throws(Status) in
        try await merge(request.by(context))
      },
      .waitingUnary("/\(EntitlementService.name)/TransferPurchase") {
        (request: TransferPurchaseRequest, context) async throws(Status) in
        try await transfer(request.by(context))
      },
      .waitingUnary("/\(EntitlementService.name)/UndoTransfer") {
        (request: UndoTransferRequest, context) async throws(Status) in
        try await undo(request.by(context))
      },
      .waitingUnary("/\(EntitlementService.name)/EraseCustomer") {
        (request: EraseCustomerRequest, context) async throws(Status) in
        try await erase(request.by(context))
      },
    ]
  }

  private func link(_ request: LinkPurchaseRequest) async throws(Status) -> LinkPurchaseResponse {
    let app = try catalog.value.app(request.app)
    try RequestValidation.customerID(request.customerId)
    try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(request.environment), actor: request.actor,
      isDryRun: request.dryRun)
    let policy = try Entitlements.OwnershipPolicy(request.policy) ?? app.ownershipPolicy
    let outcome = try await told { () async throws(LedgerError) in
      try await ledger.move(
        request.originalTransactionId, to: request.customerId, policy: policy, scope)
    }
    return .with {
      $0.transferId = request.dryRun ? "" : outcome.transferID
      $0.previousCustomerId = outcome.previousCustomerIDs.first ?? ""
      $0.events = outcome.events(in: app, isDryRun: request.dryRun)
    }
  }

  private func transfer(_ request: TransferPurchaseRequest) async throws(Status) -> TransferPurchaseResponse {
    let app = try catalog.value.app(request.app)
    try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
    try RequestValidation.given(request.fromCustomerId, "from_customer_id")
    try RequestValidation.given(request.toCustomerId, "to_customer_id")
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(request.environment), actor: request.actor,
      note: request.note, isDryRun: request.dryRun)
    // Whoever asks for a transfer wants one.
    let policy = try Entitlements.OwnershipPolicy(request.policy) ?? .transfer
    let outcome = try await told { () async throws(LedgerError) in
      try await ledger.move(
        request.originalTransactionId, from: request.fromCustomerId, to: request.toCustomerId,
        policy: policy, scope)
    }
    return .with {
      $0.transferId = request.dryRun ? "" : outcome.transferID
      $0.events = outcome.events(in: app, isDryRun: request.dryRun)
    }
  }

  private func merge(_ request: MergeCustomersRequest) async throws(Status) -> MergeCustomersResponse {
    let app = try catalog.value.app(request.app)
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(request.environment), actor: request.actor,
      isDryRun: request.dryRun)
    let outcome = try await told { () async throws(LedgerError) in
      try await ledger.merge(request.fromCustomerId, into: request.intoCustomerId, scope)
    }
    return .with {
      $0.transferId = request.dryRun ? "" : outcome.transferID
      $0.originalTransactionIds = outcome.lines
      $0.events = outcome.events(in: app, isDryRun: request.dryRun)
    }
  }

  private func undo(_ request: UndoTransferRequest) async throws(Status) -> UndoTransferResponse {
    let app = try catalog.value.app(request.app)
    try RequestValidation.given(request.transferId, "transfer_id")
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(.unspecified), actor: request.actor,
      isDryRun: request.dryRun)
    let outcome = try await told { () async throws(LedgerError) in
      try await ledger.undo(request.transferId, scope)
    }
    return .with { $0.events = outcome.events(in: app, isDryRun: request.dryRun) }
  }

  private func erase(_ request: EraseCustomerRequest) async throws(Status) -> EraseCustomerResponse {
    let app = try catalog.value.app(request.app)
    try RequestValidation.customerID(request.customerId)
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(request.environment), actor: request.actor,
      isDryRun: request.dryRun)
    let outcome = try await told { () async throws(LedgerError) in
      try await ledger.erase(request.customerId, scope)
    }
    return .with {
      $0.erasedRows = outcome.erasedRows
      if !request.dryRun { $0.erasedAt = GoogleProtobuf.Timestamp(now()) }
    }
  }
}

/// What the ledger does, with its errors as statuses.
func told<Outcome>(
  _ body: () async throws(LedgerError) -> Outcome
) async throws(Status) -> Outcome {
  do { return try await body() } catch { throw Status(error) }
}

extension Entitlements.OwnershipPolicy {
  /// `nil` if the request leaves it to us.
  init?(_ policy: Wire.OwnershipPolicy) throws(Status) {
    switch policy {
    case .unspecified: return nil
    case .keep: self = .keep
    case .transfer: self = .transfer
    case .share: self = .share
    case .unrecognized:
      throw Status(
        .invalidArgument, reason: "INVALID_FIELD", "policy has no such value", field: "policy")
    }
  }
}
