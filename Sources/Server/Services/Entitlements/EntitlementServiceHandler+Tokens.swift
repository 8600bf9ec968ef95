internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import SignedData
internal import Store
internal import Wire

// Signed tokens, which other services verify without a call.
extension EntitlementServiceHandler {
  /// Signs a token with the granted entitlements among the requested ones, by default all. It ends with the first of
  /// them, and at most after the configured lifetime. Without a granted one, the token states none.
  ///
  /// - Throws: `NO_TOKEN_KEYS` if the configuration has no section `tokens`; `UNKNOWN_ENTITLEMENT`; `INVALID_FIELD` for an
  ///   audience that is not the app's to name.
  func issueToken(
    _ request: IssueTokenRequest, _ call: CallContext
  ) async throws(Status) -> IssueTokenResponse {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.customerID(request.customerId)
    let audience = try audience(request.audience, of: app)
    for name in request.entitlements { try RequestValidation.entitlement(name, of: app) }
    guard let settings = context.signing.tokens else {
      throw Status(
        .failedPrecondition, reason: "NO_TOKEN_KEYS", "the configuration has no tokens, so none are made")
    }
    let now = context.now(in: environment)
    let longest = now.advanced(byMilliseconds: try lifetime(request, settings))
    let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let held = try await entitlements(of: key, request.entitlements, in: app, at: now, call)
    // A token must not outlive the entitlements that it states.
    let expiresAt = held.compactMap(\.until).reduce(longest, min)
    let token = EntitlementToken(
      issuer: settings.issuer, customerID: request.customerId,
      audience: audience, appID: app.id, environment: environment, entitlements: held.map(\.name),
      issuedAt: now, expiresAt: expiresAt)
    return try signed(token, by: settings.keys.current.signer)
  }

  /// The audience of a token; by default the app.
  ///
  /// The audiences `X` and `X/…` of another app X are refused, because the verifier of X may look at the entitlements
  /// alone, and a caller may be limited to its own apps. That of device sync is refused, because the subject of such a
  /// token is no customer.
  private func audience(_ wanted: String, of app: AppDefinition) throws(Status) -> String {
    guard !wanted.isEmpty else { return app.id }
    let owner = String(decoding: wanted.utf8.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
    guard owner == app.id || context.catalog.value[owner] == nil else {
      throw .invalidField("audience", "audience is that of another app, '\(owner)'")
    }
    guard wanted != EntitlementToken.deviceAudience(of: app.id) else {
      throw .invalidField("audience", "audience is reserved for tokens of device sync")
    }
    return wanted
  }

  /// Signs the token with the current key. `expires_at` is in whole seconds, as the claim `exp` is.
  private func signed(
    _ token: EntitlementToken, by signer: JWTSigner
  ) throws(Status) -> IssueTokenResponse {
    let text: String
    do throws(CryptographyError) { text = try token.signed(by: signer) } catch {
      throw Status(signing: "the token", failed: error)
    }
    return .with { response in
      response.token = text
      response.expiresAt = .init(millisecondsSince1970: token.expiresAt.secondsSince1970 * 1000)
      response.keyId = signer.keyID
    }
  }

  /// The lifetime of the token in milliseconds, limited by the settings.
  private func lifetime(_ request: IssueTokenRequest, _ settings: TokenSettings) throws(Status) -> Int64 {
    guard let wanted = request.lifetime else { return settings.lifetimeMilliseconds }
    guard wanted.seconds > 0 else { throw .invalidField("lifetime", "lifetime is less than a second") }
    // Compared in seconds, because the maximum duration in milliseconds overflows Int64.
    guard wanted.seconds < settings.lifetimeMilliseconds / 1000 else { return settings.lifetimeMilliseconds }
    return wanted.seconds * 1000
  }

  /// The granted entitlements among `wanted`, or all granted ones if `wanted` is empty.
  private func entitlements(
    of key: CustomerKey, _ wanted: [String], in app: AppDefinition, at now: Instant, _ call: CallContext
  ) async throws(Status) -> [(name: String, until: Instant?)] {
    let names = wanted.isEmpty ? app.entitlements : Set(wanted).sorted()
    return try await context.read(about: key, call) { reader throws(StoreError) in
      let facts = try reader.facts(of: key) ?? CustomerFacts()
      return names.compactMap { name in
        let status = evaluate(facts, entitlement: name, in: app, at: now)
        return status.isEntitled ? (name, status.until) : nil
      }
    }
  }
}
