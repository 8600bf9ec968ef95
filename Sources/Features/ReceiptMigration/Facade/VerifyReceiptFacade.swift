internal import AppReceipt
package import AppStore
internal import AppleLookup
internal import Entitlements
package import Ledger
package import SignedData
package import Store

/// Implements Apple's `verifyReceipt` on stored facts, so that an old backend needs no change but the URL.
///
/// The receipt is verified locally; its purchases are reported as in the latest signed transactions. A receipt with a
/// purchase that is not stored is migrated first, and an overdue subscription is looked up.
package struct VerifyReceiptFacade: Sendable {
  private let catalog: CurrentCatalog
  private let verifier: SignedDataVerifier
  private let secrets: SharedSecrets
  private let reader: AccountReader
  private let intake: ReceiptIntake

  /// The time limit of all calls to Apple for one request. It is short, because the sender waits.
  private static let timeout = Duration.seconds(10)

  /// Creates a facade. `secrets` are by app id: requests for these apps need the shared secret.
  package init(
    store: any EntitlementStore, catalog: CurrentCatalog, verifier: SignedDataVerifier,
    secrets: SharedSecrets, intake: ReceiptIntake
  ) {
    self.catalog = catalog
    self.verifier = verifier
    self.secrets = secrets
    self.intake = intake
    reader = AccountReader(store: store)
  }

  /// Whether an app of that id is configured.
  package func serves(app id: String) -> Bool { catalog.value[id] != nil }

  /// Returns the response to a request. It never throws: Apple's protocol has a status for each failure.
  ///
  /// - `appID`: `nil` for the app with the receipt's bundle id.
  /// - `environment`: of the URL; `nil` for a URL that serves all environments.
  package func answer(
    to call: VerifyReceiptCall, appID: String?, in environment: Environment?
  ) async -> VerifyReceiptAnswer {
    do throws(FailedCall) {
      let (app, origin) = try admit(call, appID, environment)
      return .valid(content(call, try await purchases(call, app, origin), app, origin))
    } catch {
      return error.answer
    }
  }

  /// Returns the response to a request that is refused whatever is stored; `nil` for one that is not. The parameters are
  /// those of ``answer(to:appID:in:)``.
  package func refusal(
    of call: VerifyReceiptCall, appID: String?, in environment: Environment?
  ) -> VerifyReceiptAnswer? {
    do throws(FailedCall) {
      _ = try admit(call, appID, environment)
      return nil
    } catch {
      return error.answer
    }
  }

  /// Whether a request has the shared secret of its app, so that a backend of the operator's sent it. Verifies nothing.
  package func hasSharedSecret(_ call: VerifyReceiptCall, appID: String?) -> Bool {
    guard let app = app(appID, call.receipt, call.origin), let secret = secrets[app.id] else { return false }
    return call.password.map(secret.matches) ?? false
  }

  /// Whether a request body has the shared secret of the app, or of any app for `nil`. It does not decode the receipt: a
  /// request without a secret costs one pass over its bytes, and none if no app has a secret.
  package func hasSharedSecret(_ body: [UInt8], ofApp appID: String?) -> Bool {
    let known = (appID.map { [$0] } ?? catalog.value.appIDs).compactMap { secrets[$0] }
    guard !known.isEmpty, let password = VerifyReceiptRequest(body)?.password else { return false }
    return known.contains { $0.matches(password) }
  }

  /// The response to a request that gets no purchases.
  private struct FailedCall: Error {
    let answer: VerifyReceiptAnswer

    init(_ status: VerifyReceiptStatus, _ environment: Environment?) {
      answer = .failed(status, environment)
    }
  }

  /// Returns the app and environment of a request with a valid receipt and, if the app has one, the shared secret.
  private func admit(
    _ call: VerifyReceiptCall, _ appID: String?, _ environment: Environment?
  ) throws(FailedCall) -> (AppDefinition, Environment) {
    let origin = call.origin
    guard let app = app(appID, call.receipt, origin), let origin else {
      throw FailedCall(.notAuthenticated, environment)
    }
    guard environment ?? origin == origin, app.environments.contains(origin) else {
      throw FailedCall(Self.misplaced(origin), environment ?? app.environments.first)
    }
    do throws(VerificationError) {
      let _: Verified<AppReceiptPayload> = try verifier.verifyReceipt(
        call.document, for: app.identity, environments: [origin])
    } catch .cryptographyFailed {
      throw FailedCall(.internalDataAccess, origin)
    } catch {
      throw FailedCall(.notAuthenticated, origin)
    }
    if let secret = secrets[app.id], !(call.password.map(secret.matches) ?? false) {
      throw FailedCall(.sharedSecretMismatch, origin)
    }
    return (app, origin)
  }

  /// Returns the app of the request: of two with the same bundle id, the one that accepts the receipt's environment.
  private func app(_ id: String?, _ receipt: AppReceiptPayload, _ origin: Environment?) -> AppDefinition? {
    let catalog = catalog.value
    if let id { return catalog[id] }
    let apps = catalog.appIDs.compactMap { catalog[$0] }.filter { $0.identity.bundleID == receipt.bundleID }
    return apps.first { app in origin.map(app.environments.contains) ?? false } ?? apps.first
  }

  /// Returns Apple's status for a receipt of another environment.
  private static func misplaced(_ origin: Environment) -> VerifyReceiptStatus {
    switch origin {
    case .sandbox: .sandboxReceiptInProduction
    case .production: .productionReceiptInSandbox
    // Only the developer's machine signs these.
    case .xcode, .localTesting: .notAuthenticated
    }
  }

  /// Returns the account's purchases, after a migration or lookup if one is needed. An overdue subscription that a
  /// lookup left overdue is not looked up again in the same request.
  private func purchases(
    _ call: VerifyReceiptCall, _ app: AppDefinition, _ environment: Environment
  ) async throws(FailedCall) -> AccountPurchases {
    var appInstalls: Set<String> = []
    let deadline = intake.deadline(after: Self.timeout)
    func read() async throws(FailedCall) -> AccountPurchases {
      do throws(StoreError) {
        return try await reader.purchases(
          of: call.receipt, through: appInstalls, appID: app.id, environment: environment)
      } catch {
        throw FailedCall(.internalDataAccess, environment)
      }
    }
    func submit(_ content: IncomingReceipt.Content) async throws(ReceiptError) -> ReceiptOutcome {
      var incoming = IncomingReceipt(appID: app.id, customerID: nil, content: content)
      incoming.environments = [environment]
      incoming.source = .verifyReceipt
      incoming.deadline = deadline
      return try await intake.submit(incoming)
    }
    var known = try await read()
    if !known.unknownLines(of: call.receipt, in: app).isEmpty {
      let outcome: ReceiptOutcome
      do { outcome = try await submit(.receipt(call.document)) } catch {
        throw FailedCall(error.status, environment)
      }
      // The App Store does not return delivered consumables. If the receipt has nothing else, only the other
      // transactions of the response identify the account.
      appInstalls.formUnion(outcome.result.transactions.compactMap(\.appTransactionId))
      known = try await read()
      if let status = outcome.status(hasSignedFacts: !known.isEmpty) { throw FailedCall(status, environment) }
    }
    let now = { self.intake.ledger.clocks.now(in: environment) }
    for line in known.overdueLines(at: now()) where known.overdueLines(at: now()).contains(line) {
      // If the lookup fails, the stored facts are reported.
      guard (try? await submit(.originalTransactionID(line))) != nil else { break }
      known = try await read()
    }
    return known
  }

  /// The members of the response.
  private func content(
    _ call: VerifyReceiptCall, _ known: AccountPurchases, _ app: AppDefinition,
    _ environment: Environment
  ) -> VerifyReceiptAnswer.Content {
    var receipt = LegacyReceiptContent(call.receipt, requestedAt: intake.ledger.clocks.now(in: environment))
    receipt.purchases = known.purchases(in: call.receipt)
    receipt.preorderDate = known.preorderDate
    return VerifyReceiptAnswer.Content(
      environment: environment, receipt: receipt,
      latest: known.latest(
        since: call.receipt, in: app, onlyLatest: call.excludesOldTransactions),
      pending: known.renewals, latestReceipt: call.text)
  }
}

extension LegacyReceiptContent {
  /// The contents of a receipt about the app, without purchases and pre-order date.
  fileprivate init(_ receipt: AppReceiptPayload, requestedAt now: Instant) {
    self.init(bundleID: receipt.bundleID ?? "")
    receiptType = receipt.receiptType?.rawValue
    appItemID = receipt.appItemID ?? 0
    downloadID = receipt.downloadID ?? 0
    versionExternalIdentifier = receipt.versionExternalIdentifier ?? 0
    applicationVersion = receipt.applicationVersion
    originalApplicationVersion = receipt.originalApplicationVersion
    creationDate = receipt.creationDate
    requestDate = now
    originalPurchaseDate = receipt.originalPurchaseDate
    expirationDate = receipt.expirationDate
  }
}

extension ReceiptOutcome {
  /// The error status; `nil` if the purchases can be reported. `hasSignedFacts`: whether signed facts of the account are
  /// stored.
  fileprivate func status(hasSignedFacts: Bool) -> VerifyReceiptStatus? {
    if let pendingReason, pendingReason != LookupError.noKeyReason { return .unavailable }
    let isUnknown = problems.contains { $0.reason == ReceiptRejection.unknownToApple("").reason }
    return isUnknown && !hasSignedFacts ? .accountNotFound : nil
  }
}

extension ReceiptError {
  /// The status of `verifyReceipt`.
  fileprivate var status: VerifyReceiptStatus {
    switch self {
    case .rejected: .notAuthenticated
    case .lookupFailed, .verifyReceiptFailed, .onlineCheckFailed, .cancelled: .unavailable
    case .ledger: .internalDataAccess
    }
  }
}

extension Evidence.Source {
  /// The `verifyReceipt` facade.
  package static let verifyReceipt = Evidence.Source(rawValue: "VERIFY_RECEIPT")
}
