internal import AppReceipt
package import AppStore
internal import AppleLookup
internal import Entitlements
package import Ledger
package import SignedData
package import Store

/// Answers as Apple's `verifyReceipt` does, from what is known here: an old backend changes the URL and nothing else.
///
/// The receipt is verified on this machine. What its purchases are worth today is what Apple signed about them since. A
/// receipt with a purchase that is new here is migrated first; and Apple is asked about a subscription whose renewal
/// should have been told by now.
package struct VerifyReceiptFacade: Sendable {
  private let catalog: CurrentCatalog
  private let verifier: SignedDataVerifier
  private let secrets: [String: SharedSecret]
  private let reader: AccountReader
  private let intake: ReceiptIntake
  private let now: @Sendable () -> Instant

  /// For how long Apple is asked: whoever sends a receipt waits.
  private static let timeout = Duration.seconds(10)

  /// A facade before `store`. `secrets` are those of the apps whose backends have to know one, by the operator's names
  /// for the apps; `now` tells what time an answer is for.
  package init(
    store: any EntitlementStore, catalog: CurrentCatalog, verifier: SignedDataVerifier,
    secrets: [String: SharedSecret], intake: ReceiptIntake, now: @escaping @Sendable () -> Instant
  ) {
    self.catalog = catalog
    self.verifier = verifier
    self.secrets = secrets
    self.intake = intake
    self.now = now
    reader = AccountReader(store: store)
  }

  /// Whether the operator configured an app of that name.
  package func serves(app id: String) -> Bool { catalog.value[id] != nil }

  /// Answers a request.
  ///
  /// - `appID`: the app; `nil` for the one that has the receipt's bundle id.
  /// - `environment`: that of the URL; `nil` for a URL that serves all environments of the app.
  package func answer(
    to question: VerifyReceiptCall, appID: String?, in environment: Environment?
  ) async -> VerifyReceiptAnswer {
    let receipt = question.receipt
    let origin: Environment? = if case .known(let origin) = receipt.origin { origin } else { nil }
    guard let app = app(appID, receipt, origin), let origin else {
      return .failed(.notAuthenticated, environment)
    }
    guard environment ?? origin == origin, app.environments.contains(origin) else {
      return .failed(Self.misplaced(origin), environment ?? app.environments.first)
    }
    do throws(VerificationError) {
      let _: Verified<AppReceiptPayload> = try verifier.verifyReceipt(
        question.document, for: app.identity, environments: [origin])
    } catch .cryptographyFailed {
      return .failed(.internalDataAccess, origin)
    } catch {
      return .failed(.notAuthenticated, origin)
    }
    if let secret = secrets[app.id], !(question.password.map(secret.matches) ?? false) {
      return .failed(.sharedSecretMismatch, origin)
    }
    do throws(Failure) {
      return .valid(content(question, try await purchases(question, app, origin), app, origin))
    } catch {
      return .failed(error.status, origin)
    }
  }

  /// The app that is meant. Where two have one bundle id, the one that takes the receipt's environment.
  private func app(_ id: String?, _ receipt: AppReceiptPayload, _ origin: Environment?) -> AppDefinition? {
    let catalog = catalog.value
    if let id { return catalog[id] }
    let apps = catalog.appIDs.compactMap { catalog[$0] }.filter { $0.identity.bundleID == receipt.bundleID }
    return apps.first { app in origin.map(app.environments.contains) ?? false } ?? apps.first
  }

  /// What Apple answers to a receipt that belongs elsewhere.
  private static func misplaced(_ origin: Environment) -> VerifyReceiptStatus {
    switch origin {
    case .sandbox: .sandboxReceiptInProduction
    case .production: .productionReceiptInSandbox
    // Nobody but the developer's own machine vouches for these.
    case .xcode, .localTesting: .notAuthenticated
    }
  }

  // MARK: What is known

  /// Why no answer can be given now.
  private struct Failure: Error {
    let status: VerifyReceiptStatus
  }

  /// What the account has, after asking Apple where that is needed.
  private func purchases(
    _ question: VerifyReceiptCall, _ app: AppDefinition, _ environment: Environment
  ) async throws(Failure) -> AccountPurchases {
    var copies: Set<String> = []
    func read() async throws(Failure) -> AccountPurchases {
      do throws(StoreError) {
        return try await reader.purchases(
          of: question.receipt, through: copies, appID: app.id, environment: environment)
      } catch {
        throw Failure(status: .internalDataAccess)
      }
    }
    func ask(_ content: IncomingReceipt.Content) async throws(ReceiptError) -> ReceiptOutcome {
      var incoming = IncomingReceipt(appID: app.id, customerID: nil, content: content)
      incoming.environment = environment
      incoming.source = .verifyReceipt
      incoming.timeout = Self.timeout
      return try await intake.submit(incoming)
    }
    var known = try await read()
    if !known.unknownLines(of: question.receipt, in: app).isEmpty {
      let outcome: ReceiptOutcome
      do { outcome = try await ask(.receipt(question.document)) } catch {
        throw Failure(status: error.status)
      }
      // A receipt can have nothing but delivered consumables, of which Apple does not tell: then only what else it
      // tells of says whose the receipt is.
      copies.formUnion(outcome.taken.transactions.compactMap(\.appTransactionId))
      known = try await read()
      if let status = outcome.status(isKnown: !known.isEmpty) { throw Failure(status: status) }
    }
    for line in known.overdueLines(at: now()) where known.overdueLines(at: now()).contains(line) {
      // Without an answer, what was known stays true as far as it goes.
      guard (try? await ask(.originalTransactionID(line))) != nil else { break }
      known = try await read()
    }
    return known
  }

  private func content(
    _ question: VerifyReceiptCall, _ known: AccountPurchases, _ app: AppDefinition,
    _ environment: Environment
  ) -> VerifyReceiptAnswer.Content {
    var receipt = LegacyReceiptContent(question.receipt, askedAt: now())
    receipt.purchases = known.purchases(in: question.receipt)
    receipt.preorderDate = known.preorderDate
    return VerifyReceiptAnswer.Content(
      environment: environment, receipt: receipt,
      latest: known.latest(
        since: question.receipt, in: app, onlyLatest: question.excludesOldTransactions),
      pending: known.renewals, latestReceipt: question.text)
  }
}

extension LegacyReceiptContent {
  /// What a receipt says of the app. Its purchases and a pre-order are for others to add.
  fileprivate init(_ receipt: AppReceiptPayload, askedAt now: Instant) {
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
  /// What an old backend is told instead of an answer; `nil` if there is one. `isKnown`: Apple has signed something about
  /// the account.
  fileprivate func status(isKnown: Bool) -> VerifyReceiptStatus? {
    if let pendingReason, pendingReason != LookupError.noKeyReason { return .unavailable }
    let isUnknown = problems.contains { $0.reason == ReceiptRefusal.unknownToApple("").reason }
    return isUnknown && !isKnown ? .accountNotFound : nil
  }
}

extension ReceiptError {
  /// What an old backend is told.
  fileprivate var status: VerifyReceiptStatus {
    switch self {
    case .refused: .notAuthenticated
    case .unavailable: .unavailable
    case .ledger: .internalDataAccess
    }
  }
}

extension Evidence.Source {
  /// An old backend asked what it is worth.
  package static let verifyReceipt = Evidence.Source(rawValue: "VERIFY_RECEIPT")
}
