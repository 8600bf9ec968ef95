internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Entitlements that the operator grants without a purchase.
extension EntitlementServiceHandler {
  func grant(_ request: GrantRequest, _ call: CallContext) async throws(Status) -> GrantResponse {
    let request = request.attributed(to: call)
    let once = Idempotency(of: request, call, context)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    try RequestValidation.customerID(request.customerId)
    try RequestValidation.entitlement(request.entitlement, of: app)
    let level = try Self.level(request.accessLevel)
    let since = try request.since.map { time throws(Status) in try Instant(time, "since") }
    let until = try request.until.map { time throws(Status) in try Instant(time, "until") }
    if let until, until <= since ?? context.now() {
      throw Status(
        .invalidArgument, reason: "INVALID_FIELD", "until is not after the grant begins", field: "until")
    }
    let scope = CommandScope(
      appID: app.id, environment: environment, actor: request.actor, note: request.note,
      isDryRun: request.dryRun)
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.grant(
        request.entitlement, level, since: since, until: until, to: request.customerId, scope)
    } response: { [now = context.now] outcome in
      .with {
        $0.grant = outcome.grantMessage
        $0.entitlement = outcome.answer(in: app, at: now())
        if request.dryRun {
          if $0.entitlement?.grantId == $0.grant?.grantId { $0.entitlement?.grantId = "" }
          $0.grant?.grantId = ""
        }
        $0.events = outcome.events(in: app, isDryRun: request.dryRun)
      }
    }
  }

  func revokeGrant(
    _ request: RevokeGrantRequest, _ call: CallContext
  ) async throws(Status) -> RevokeGrantResponse {
    let request = request.attributed(to: call)
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.given(request.grantId, "grant_id")
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(.unspecified), actor: request.actor,
      note: request.note, isDryRun: request.dryRun)
    let outcome = try await mapLedgerError { () async throws(LedgerError) in
      try await context.ledger.revokeGrant(request.grantId, scope)
    }
    return .with {
      $0.grant = outcome.grantMessage
      $0.entitlement = outcome.answer(in: app, at: context.now())
      $0.events = outcome.events(in: app, isDryRun: request.dryRun)
    }
  }

  private static func level(_ level: Wire.AccessLevel) throws(Status) -> Entitlements.AccessLevel {
    switch level {
    case .full: return .full
    case .limited: return .limited
    case .unspecified:
      throw Status(
        .invalidArgument, reason: "MISSING_FIELD", "access_level is not set; it must be limited or full",
        field: "access_level")
    case .none, .unrecognized:
      throw Status(
        .invalidArgument, reason: "INVALID_FIELD", "access_level must be limited or full",
        field: "access_level")
    }
  }
}

extension CommandResult {
  fileprivate var grantMessage: Grant? {
    guard let grant, let customer else { return nil }
    return Grant(grant, to: customer)
  }

  /// The customer's entitlement that the grant is about.
  fileprivate func answer(in app: AppDefinition, at now: Instant) -> Entitlement? {
    guard let grant else { return nil }
    return Entitlement(
      evaluate(facts, entitlement: grant.entitlement, in: app, at: now), of: grant.entitlement, in: app,
      at: now)
  }
}
