internal import AppReceipt
package import AppStore
package import AppleLookup
internal import Entitlements
package import Ledger
internal import Metrics
package import SignedData
package import Store

/// Where legacy receipts come in: verified, looked up at Apple, and durable before the answer.
///
/// What Apple signs about the purchases is what counts. Where Apple cannot be asked, the receipt's own word
/// holds until it can.
package struct ReceiptIntake: Sendable {
  package let ledger: EvidenceLedger
  let lookup: PurchaseLookup
  let catalog: CurrentCatalog
  private let verifier: ReceiptVerifier
  private let policies: [String: ReceiptPolicy]
  private let checkOnline: OnlineCheck?
  let now: @Sendable () -> Instant

  /// An intake before `ledger`. `policies` are those of the apps, by the operator's names for them; an app
  /// that is not there has the usual one. `now` dates what is queued.
  package init(
    ledger: EvidenceLedger, lookup: PurchaseLookup, catalog: CurrentCatalog, verifier: ReceiptVerifier,
    policies: [String: ReceiptPolicy],
    checkOnline: OnlineCheck? = nil,
    now: @escaping @Sendable () -> Instant
  ) {
    self.ledger = ledger
    self.lookup = lookup
    self.catalog = catalog
    self.verifier = verifier
    self.policies = policies
    self.checkOnline = checkOnline
    self.now = now
  }

  /// Takes in a receipt, or what stands for one. `alongside` writes what must be true together with it.
  package func submit(
    _ incoming: IncomingReceipt,
    alongside: @escaping @Sendable (any StoreTransaction, ReceiptResult) throws(StoreError) -> Void = {
      (_, _) throws(StoreError) in
    }
  ) async throws(ReceiptError) -> ReceiptOutcome {
    do throws(ReceiptError) {
      let outcome = try await submitVerified(incoming, alongside)
      count(outcome.pendingReason == nil ? "TAKEN" : "PENDING")
      return outcome
    } catch {
      count(error.reason)
      throw try await recordRejection(error, incoming)
    }
  }

  private func count(_ reason: String) {
    Counter(label: "entitled_receipts_total", dimensions: [("reason", reason)]).increment()
  }

  private func submitVerified(
    _ incoming: IncomingReceipt,
    _ alongside: @escaping @Sendable (any StoreTransaction, ReceiptResult) throws(StoreError) -> Void
  ) async throws(ReceiptError) -> ReceiptOutcome {
    let app = try app(incoming.appID)
    let policy = policies[app.id] ?? ReceiptPolicy()
    let evidence = try await classify(incoming, of: app, policy)
    return try await lookUp(evidence, incoming, of: app, policy, alongside)
  }

  /// What the receipt is, without asking Apple's Server API and without keeping anything.
  package func dryRun(_ incoming: IncomingReceipt) async throws(ReceiptError) -> (
    lines: [String], environment: Environment
  ) {
    let app = try app(incoming.appID)
    let classified = try await classify(incoming, of: app, policies[app.id] ?? ReceiptPolicy())
    return (classified.lines, classified.environment)
  }

  private func app(_ id: String) throws(ReceiptError) -> AppDefinition {
    let catalog = catalog.value
    guard let app = catalog[id] else { throw .ledger(.unknownApp(id, configured: catalog.appIDs)) }
    return app
  }

  /// Keeps what was refused, as far as it is a document.
  private func recordRejection(
    _ error: ReceiptError, _ incoming: IncomingReceipt
  ) async throws(ReceiptError) -> ReceiptError {
    guard case .refused(let refusal, evidence: nil) = error, let bytes = incoming.content.document else {
      return error
    }
    let keeps = policies[incoming.appID]?.keepsReceipts ?? false
    do throws(LedgerError) {
      let id = try await ledger.recordRejection(
        receipt: keeps ? EvidenceContent(hashing: bytes) : EvidenceContent(hashing: bytes, keepingAtMost: 0),
        of: incoming.appID, for: incoming.customerID, reason: refusal.reason, source: incoming.source)
      return .refused(refusal, evidence: id)
    } catch {
      throw .ledger(error)
    }
  }
}

extension ReceiptIntake {
  /// Finds out what arrived, and whether it is genuine.
  private func classify(
    _ incoming: IncomingReceipt, of app: AppDefinition, _ policy: ReceiptPolicy
  ) async throws(ReceiptError) -> ClassifiedReceipt {
    switch incoming.content {
    case .originalTransactionID(let number):
      guard number.standsForPurchase else { throw .refused(.transactionIDZero, evidence: nil) }
      let environment = incoming.environment ?? app.environments.first ?? .production
      guard app.environments.contains(environment) else {
        throw .refused(.notVerified(.wrongEnvironment(environment.rawValue)), evidence: nil)
      }
      return .number(number, environment, .originalTransactionID)
    case .receipt(let bytes): return try await verify(bytes, incoming, of: app, policy)
    case .text(let text): return try await verify(Array(text.utf8), incoming, of: app, policy)
    }
  }

  private func verify(
    _ bytes: [UInt8], _ incoming: IncomingReceipt, of app: AppDefinition, _ policy: ReceiptPolicy
  ) async throws(ReceiptError) -> ClassifiedReceipt {
    let document: RecognizedDocument
    do { document = try RecognizedDocument(bytes) } catch {
      throw .refused(ReceiptRefusal(error), evidence: nil)
    }
    switch document {
    case .jws, .notificationV1: throw .refused(.otherDocument, evidence: nil)
    case .transactionReceipt(let receipt): return try lookUp(transactionReceipt: receipt, of: app, policy)
    case .appReceipt(let receipt):
      let genuine = try await verifier.verify(receipt, of: app, policy, incoming)
      guard !genuine.hasOnlyZeros || genuine.environment == .xcode else {
        throw .refused(.transactionIDZero, evidence: nil)
      }
      do throws(OnlineCheckError) { try await checkOnline?([document], app.id) } catch {
        guard case .unavailable(_, let wait) = error else {
          throw .refused(.revoked(error), evidence: nil)
        }
        throw .unavailable(
          reason: error.reason, explanation: error.description, retryAfter: .milliseconds(wait))
      }
      return .genuine(genuine)
    }
  }

  private func lookUp(
    transactionReceipt bytes: [UInt8], of app: AppDefinition, _ policy: ReceiptPolicy
  ) throws(ReceiptError) -> ClassifiedReceipt {
    let receipt: TransactionReceipt
    do { receipt = try TransactionReceipt(parsing: bytes) } catch {
      throw .refused(.notVerified(.notAReceipt(error.description)), evidence: nil)
    }
    if let bundle = receipt.bundleID, bundle != app.identity.bundleID {
      throw .refused(.notVerified(.wrongBundle(bundle.debugDescription)), evidence: nil)
    }
    guard policy.looksUpUnverified else { throw .refused(.uncheckable, evidence: nil) }
    guard let number = receipt.originalTransactionID ?? receipt.transactionID, number.standsForPurchase
    else { throw .refused(.transactionIDZero, evidence: nil) }
    let environment = receipt.environment ?? app.environments.first ?? .production
    guard app.environments.contains(environment) else {
      throw .refused(.notVerified(.wrongEnvironment(environment.rawValue)), evidence: nil)
    }
    return .number(number, environment, .transactionReceipt)
  }
}

/// What a receipt turned out to be.
enum ClassifiedReceipt: Sendable {
  case genuine(VerifiedReceipt)
  /// Nothing that proves anything, but a number to look up.
  case number(String, Environment, ReceiptOutcome.Kind)

  var lines: [String] {
    switch self {
    case .genuine(let receipt): receipt.lines
    case .number(let number, _, _): [number]
    }
  }

  var environment: Environment {
    switch self {
    case .genuine(let receipt): receipt.environment
    case .number(_, let environment, _): environment
    }
  }
}

extension IncomingReceipt.Content {
  /// The bytes that arrived; `nil` of a number.
  fileprivate var document: [UInt8]? {
    switch self {
    case .receipt(let bytes): bytes.isEmpty ? nil : bytes
    case .text(let text): text.isEmpty ? nil : Array(text.utf8)
    case .originalTransactionID: nil
    }
  }
}
