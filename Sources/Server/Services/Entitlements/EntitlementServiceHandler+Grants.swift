internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Entitlements that the operator grants without a purchase.
extension EntitlementServiceHandler {
  /// Grants an entitlement; with `source`, records the state of a purchase in another store by its revision. Only a
  /// grant of the operator must end after it begins: the state of a purchase may be about the past.
  ///
  /// - Throws: `MISSING_FIELD`, `INVALID_FIELD`, `UNKNOWN_ENTITLEMENT`; `REVISION_CONFLICT` for another state with a
  ///   stored revision.
  func grant(_ request: GrantRequest, _ call: CallContext) async throws(Status) -> GrantResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.customerID(request.customerId)
    try RequestValidation.entitlement(request.entitlement, of: app)
    let level = try Self.level(request.accessLevel)
    let since = try request.since.map { time throws(Status) in try Instant(time, "since") }
    let until = try request.until.map { time throws(Status) in try Instant(time, "until") }
    let external = try ExternalState(request)
    if external == nil, let until, until <= since ?? context.now(in: environment) {
      throw .invalidField("until", "until is not after the grant begins")
    }
    let scope = try CommandScope(request, in: app, isDryRun: request.dryRun)
    return try await once.run(scope) { scope async throws(LedgerError) in
      if let external {
        return try await context.ledger.grant(
          request.entitlement, level, since: since, until: until, to: request.customerId, as: external, scope)
      }
      return try await context.ledger.grant(
        request.entitlement, level, since: since, until: until, to: request.customerId, scope)
    } response: { [context] outcome in
      .with {
        $0.grant = outcome.grantMessage
        $0.entitlement = outcome.answer(in: app, at: context.now(in: environment))
        if request.dryRun {
          if $0.entitlement?.grantId == $0.grant?.grantId { $0.entitlement?.grantId = "" }
          $0.grant?.grantId = ""
        }
        $0.events = outcome.events(in: app, isDryRun: request.dryRun)
        $0.superseded = outcome.isSuperseded
      }
    }
  }

  /// The position of a page is the id of the last grant of the previous one. The id of a merged customer selects the grants of
  /// the merge target.
  func listGrants(
    _ request: ListGrantsRequest, _ call: CallContext
  ) async throws(Status) -> ListGrantsResponse {
    let app = try context.catalog.value.app(request.app)
    let (page, size) = try context.page(of: request)
    let scope = AppEnvironment(appID: app.id, environment: try app.environment(request.environment))
    var filter = GrantFilter(appID: app.id, environment: scope.environment, limit: size + 1)
    filter.customerID = request.customerId.given
    filter.source = request.source.given
    filter.after = page.position
    let found = try await context.read { [filter] reader throws(StoreError) in
      var filter = filter
      filter.customerID = try reader.finalMergeTarget(of: filter.customerID, in: scope)
      return try reader.grants(filter)
    }
    CallScope.show(found.prefix(size).map(\.customer.customerID), of: "grants")
    return .with {
      $0.grants = found.prefix(size).map { Grant($0) }
      if found.count > size { $0.nextPageToken = page.token(after: found[size - 1].fact.grantID) }
    }
  }

  /// Revokes a grant, whose id also determines the environment. The response has the entitlement as it is afterwards.
  ///
  /// - Throws: `UNKNOWN_GRANT`, and `EXTERNAL_GRANT` for a purchase in another store, which ends by its state.
  func revokeGrant(
    _ request: RevokeGrantRequest, _ call: CallContext
  ) async throws(Status) -> RevokeGrantResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    try RequestValidation.given(request.grantId, "grant_id")
    let scope = CommandScope(
      appID: app.id, environment: try app.environment(.unspecified), actor: request.actor,
      note: request.note, isDryRun: request.dryRun)
    return try await once.run(scope) { scope async throws(LedgerError) in
      try await context.ledger.revokeGrant(request.grantId, scope)
    } response: { [context] outcome in
      .with {
        $0.grant = outcome.grantMessage
        $0.entitlement = outcome.answer(
          in: app, at: context.now(in: outcome.customer?.environment ?? scope.environment))
        $0.events = outcome.events(in: app, isDryRun: request.dryRun)
      }
    }
  }

  /// The level of a grant, which must be stated.
  ///
  /// - Throws: `MISSING_FIELD` or `INVALID_FIELD`.
  private static func level(_ level: Wire.AccessLevel) throws(Status) -> Entitlements.AccessLevel {
    switch level {
    case .full: return .full
    case .limited: return .limited
    case .unspecified:
      throw .missingField("access_level", "access_level is not set; it must be limited or full")
    case .none, .unrecognized:
      throw .invalidField("access_level", "access_level must be limited or full")
    }
  }
}

extension CommandResult {
  /// The grant of the command; `nil` for a command about none.
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

extension ExternalState {
  /// The purchase in another store that a request is about; `nil` for a grant of the operator.
  fileprivate init?(_ request: GrantRequest) throws(Status) {
    guard !request.source.isEmpty else {
      let others = [
        ("external_id", request.externalId.isEmpty), ("product_id", request.productId.isEmpty),
        ("revision", request.revision == 0), ("refunded_at", request.refundedAt == nil),
      ]
      if let field = others.first(where: { !$0.1 })?.0 {
        throw .missingField("source", "\(field) needs source")
      }
      return nil
    }
    guard ExternalPurchase.isSource(request.source) else {
      throw .invalidField(
        "source",
        "source needs 1 to 32 lower-case letters, digits, dashes, dots and underscores, beginning with a letter, and is "
          + "not app_store or operator")
    }
    try RequestValidation.given(request.externalId, "external_id")
    guard request.revision > 0 else {
      throw Status(
        .invalidArgument, reason: request.revision == 0 ? "MISSING_FIELD" : "INVALID_FIELD",
        "revision is not above 0", field: "revision")
    }
    self.init(
      source: request.source, externalID: request.externalId, productID: request.productId,
      revision: request.revision,
      refundedAt: try request.refundedAt.map { time throws(Status) in try Instant(time, "refunded_at") })
  }
}
