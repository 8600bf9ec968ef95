internal import AppStore
internal import Bytes
internal import Callers
internal import Entitlements
package import HTTP
internal import JSON
internal import Ledger
internal import Metrics
internal import RPC
internal import SignedData
internal import Store
internal import Telemetry

/// `POST /app/v1/{app}/sync` on the edge: an app without a backend exchanges its signed documents for the entitlements
/// of these purchases and a token.
///
/// Apple's signatures are the credential. They prove the purchases, but not that the sender made them, because signed
/// documents can be copied; so the number of installations is limited.
package struct DeviceSyncEndpoint: Sendable {
  private static let prefix = "/app/v1/"
  private static let suffix = "/sync"
  /// The pattern in metrics, in the audit log and in the OpenAPI document.
  static let route = "/app/v1/{app}/sync"
  /// In milliseconds: a refund takes effect on a device within a quarter of an hour.
  private static let tokenLifetime: Int64 = 15 * 60 * 1_000
  /// In bytes: a signed document has some 6,000.
  private static let maxBody = 1 << 20

  private let context: ServiceContext
  private let addresses: AddressLimiter
  private let limits = DeviceSyncLimits()
  private let audit: @Sendable (AuditRecord) -> Void

  init(
    _ context: ServiceContext, addresses: AddressLimiter, audit: @escaping @Sendable (AuditRecord) -> Void
  ) {
    self.context = context
    self.addresses = addresses
    self.audit = audit
  }

  /// Whether a path is that of a sync.
  package func serves(_ path: String) -> Bool { Self.serves(path) }

  static func serves(_ path: String) -> Bool { path.hasPrefix(prefix) && path.hasSuffix(suffix) }

  /// Responds to a request to a path that ``serves(_:)`` accepts.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    do throws(Status) {
      let response = try await sync(request)
      count(Self.appID(of: request), "OK")
      return response
    } catch {
      return refusal(error, of: request)
    }
  }

  /// In a replica that does not write: refuses what the leader would refuse whatever is stored, so that unauthenticated
  /// peers cannot fill the database.
  func judge(_ request: HTTPRequest) -> LocalVerdict {
    guard request.method == "POST" else { return .refused(.methodNotAllowed("POST")) }
    do throws(Status) {
      let verified = try admit(request)
      _ = try DeviceDocuments(
        verified.request, verified.appTransaction, of: verified.app, with: context.verifier)
      return .undecided
    } catch {
      return .refused(refusal(error, of: request))
    }
  }

  /// The app that a path names; it may be unknown.
  private static func appID(of request: HTTPRequest) -> String {
    String(request.path.dropFirst(prefix.count).dropLast(suffix.count))
  }

  /// The response to a rejected request, which is counted by its reason.
  private func refusal(_ error: Status, of request: HTTPRequest) -> HTTPResponse {
    count(Self.appID(of: request), error.reason ?? error.code.name)
    let status: Int? =
      switch error.reason {
      case Self.mediaType: 415
      case Self.tooLarge: 413
      default: nil
      }
    return HTTPResponse(connectError: error, httpStatus: status)
  }

  /// A request within the limits, whose app transaction is verified.
  private struct VerifiedRequest {
    let app: AppDefinition
    let policy: DeviceSyncPolicy
    let tokens: TokenSettings
    let request: DeviceSyncRequest
    let appTransaction: AppTransactionPayload
  }

  /// Checks a request as far as it costs little: the rate of the address, the form, and the signature of the app
  /// transaction, which proves that the app was bought.
  private func admit(_ request: HTTPRequest) throws(Status) -> VerifiedRequest {
    guard let app = context.catalog.value[Self.appID(of: request)], let policy = app.deviceSync,
      let tokens = context.signing.tokens
    else {
      throw Status(.notFound, reason: "DEVICE_SYNC_OFF", "there is no such app, or it has no device_sync")
    }
    if let wait = addresses.delay(of: request.address) { throw Self.tooMany("address", wait) }
    guard request.mediaType == "application/json" else {
      throw Status(.invalidArgument, reason: Self.mediaType, "content-type must be application/json")
    }
    guard request.body.count <= Self.maxBody else {
      throw Status(
        .resourceExhausted, reason: Self.tooLarge, "the body has more than \(Self.maxBody) bytes")
    }
    let submitted = try DeviceSyncRequest(request.body)
    let appTransaction = try DeviceDocuments.verifyAppTransaction(submitted, of: app, with: context.verifier)
    return VerifiedRequest(
      app: app, policy: policy, tokens: tokens, request: submitted, appTransaction: appTransaction)
  }

  /// Stores the documents of an app install and answers with its entitlements, within the limits of the install and
  /// of installs for one customer.
  private func sync(_ request: HTTPRequest) async throws(Status) -> HTTPResponse {
    let verified = try admit(request)
    let (app, policy, appTransaction) = (verified.app, verified.policy, verified.appTransaction)
    let install = DeviceDocuments.install(of: appTransaction, app)
    let now = context.now(in: install.environment)
    if let wait = limits.delay(ofRequestOf: install, policy, at: now) {
      throw Self.tooMany("app install", wait)
    }
    let documents = try DeviceDocuments(
      verified.request, appTransaction, of: app, with: context.verifier)
    try await limitInstallations(of: documents, policy, request, at: now)
    try await store(verified.request, app)
    let answer = try await answer(documents, app, verified.tokens, at: now)
    return .json(200, answer.serialized(pretty: true) + [UInt8(ascii: "\n")])
  }

  /// Refuses or reports an installation over the limit. The app install counts too, because it grants access without a
  /// purchase, and with any of its purchases.
  private func limitInstallations(
    of documents: DeviceDocuments, _ policy: DeviceSyncPolicy, _ request: HTTPRequest, at now: Instant
  ) async throws(Status) {
    let excess = try await mapLedgerError { () async throws(LedgerError) in
      try await context.ledger.count(
        installation: documents.installation, of: documents.lines + [documents.install],
        limit: policy.maxInstallations, at: now)
    }
    guard let line = excess.first else { return }
    let (name, id, member) =
      line.isPurchase
      ? ("purchase", line.lineID, "originalTransactionId")
      : ("app install", documents.appTransactionID, "appTransactionId")
    let status = Status(
      .permissionDenied, reason: "TOO_MANY_INSTALLATIONS",
      "the \(name) \(id) has \(policy.maxInstallations) other installations today", metadata: [(member, id)])
    audit(
      AuditRecord(
        caller: "", method: "POST \(Self.route)", mutates: false, apps: [line.appID], customers: [],
        actor: "",
        outcome: status.code.name, reason: status.reason ?? "", error: status.message,
        trace: TraceContext.current
          ?? TraceContext(continuing: request.header("traceparent"))))
    guard policy.excess == .report else { throw status }
    count(line.appID, "TOO_MANY_INSTALLATIONS_REPORTED")
  }

  /// Ingests the transactions, so that later notifications about their purchases have facts to change. No customer
  /// claims them.
  private func store(_ request: DeviceSyncRequest, _ app: AppDefinition) async throws(Status) {
    let submissions = request.signedTransactions.map {
      Submission(appID: app.id, customerID: nil, signedTransaction: $0)
    }
    guard !submissions.isEmpty else { return }
    do throws(LedgerError) {
      for submission in submissions { try await checkCertificates(submission) }
      for result in try await context.ledger.submitBatch(submissions) { _ = try result.get() }
    } catch {
      throw Status(error)
    }
  }

  /// Performs the online checks that the app requires.
  ///
  /// - Throws: ``LedgerError/notChecked(_:)``, also for a revoked certificate.
  private func checkCertificates(_ submission: Submission) async throws(LedgerError) {
    guard let onlineChecks = context.apple.onlineChecks else { return }
    for document in submission.documents {
      do throws(OnlineCheckError) {
        try await onlineChecks.check([.jws(document.text)], of: submission.appID)
      } catch {
        throw .notChecked(error)
      }
    }
  }

  /// The entitlements of the purchases and of the app install, by all stored facts about them, and a token.
  private func answer(
    _ documents: DeviceDocuments, _ app: AppDefinition, _ tokens: TokenSettings, at now: Instant
  ) async throws(Status) -> JSONObject {
    var facts = try await context.read { snapshot throws(StoreError) in
      // A consent is withdrawn for the app install.
      var facts = try snapshot.facts(of: documents.install)
      for line in documents.lines { facts.merge(try snapshot.facts(of: line)) }
      return facts
    }
    facts.insert(documents.appTransaction)
    let held = app.entitlements.map { ($0, evaluate(facts, entitlement: $0, in: app, at: now)) }
    let granted = held.filter { $0.1.isEntitled }
    let identity = documents.appAccountToken ?? documents.appTransactionID
    // A token must not outlive the entitlements that it states.
    let end = granted.compactMap(\.1.until).reduce(now.advanced(byMilliseconds: Self.tokenLifetime), min)
    let token = EntitlementToken(
      issuer: tokens.issuer, customerID: identity, audience: EntitlementToken.deviceAudience(of: app.id),
      appID: app.id,
      environment: documents.environment, entitlements: granted.map(\.0), issuedAt: now, expiresAt: end)
    let signed: String
    do throws(CryptographyError) { signed = try token.signed(by: tokens.keys.current.signer) } catch {
      throw Status(signing: "the token", failed: error)
    }
    return [
      "identity": .string(identity),
      "identityKind": documents.appAccountToken == nil ? "APP_TRANSACTION_ID" : "APP_ACCOUNT_TOKEN",
      "environment": .string(documents.environment.rawValue), "evaluatedAt": .string(now.description),
      "entitlements": .array(held.map { .object(Self.entitlement($0.0, $0.1)) }),
      "token": .string(signed), "tokenExpiresAt": .string(end.description),
    ]
  }

  private static func entitlement(_ name: String, _ status: EntitlementStatus) -> JSONObject {
    var entitlement: JSONObject = [
      "name": .string(name), "entitled": .bool(status.isEntitled),
      "accessLevel": .string("\(status.accessLevel)"), "reason": .string(status.reason.rawValue),
      "explanation": .string(status.sentence),
    ]
    entitlement["until"] = status.until.map { .string($0.description) }
    entitlement["productId"] = status.deciding.map { .string($0.productID) }
    return entitlement
  }

  private func count(_ appID: String, _ outcome: String) {
    // The peer chooses the path, so an unknown app has no separate label.
    let app = context.catalog.value[appID] == nil ? "" : appID
    Counter(label: "entitled_device_syncs_total", dimensions: [("app", app), ("outcome", outcome)])
      .increment()
  }

  private static let mediaType = "UNSUPPORTED_CONTENT_TYPE"
  private static let tooLarge = "MESSAGE_TOO_LARGE"

  private static func tooMany(_ subject: String, _ milliseconds: Int64) -> Status {
    Status(
      .resourceExhausted, reason: "RATE_LIMIT", "too many requests of this \(subject); retry later",
      retryAfterMilliseconds: milliseconds)
  }
}
