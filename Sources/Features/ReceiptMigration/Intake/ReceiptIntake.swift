internal import AppReceipt
package import AppStore
internal import AppStoreClient
package import AppleLookup
internal import Entitlements
package import Ledger
internal import Metrics
package import SignedData
package import Store

/// Ingests legacy receipts: verifies them, looks up their purchases at the App Store, and commits both.
///
/// The transactions that the App Store signs decide. While it cannot be called, the receipt's contents do.
package struct ReceiptIntake: Sendable {
  /// The ledger to which receipts are submitted.
  package let ledger: EvidenceLedger
  let lookup: PurchaseLookup
  let catalog: CurrentCatalog
  private let verifier: ReceiptVerifier
  private let policies: [String: ReceiptPolicy]
  private let checkOnline: OnlineCheck?
  private let uptime: @Sendable () -> Duration

  /// Creates an intake. `policies` are by app id; an app without an entry has the default policy. `uptime` is monotonic.
  package init(
    ledger: EvidenceLedger, lookup: PurchaseLookup, catalog: CurrentCatalog, verifier: ReceiptVerifier,
    policies: [String: ReceiptPolicy],
    checkOnline: OnlineCheck? = nil,
    uptime: @escaping @Sendable () -> Duration = ClientClock.machineUptime
  ) {
    self.ledger = ledger
    self.lookup = lookup
    self.catalog = catalog
    self.verifier = verifier
    self.policies = policies
    self.checkOnline = checkOnline
    self.uptime = uptime
  }

  /// Ingests a receipt or a transaction id. `alongside` writes in the same commit; it may run more than once, so it
  /// must have no other effect. When this returns, everything is durable.
  ///
  /// A failed lookup of a verified receipt is no error: its contents are stored, and the lookup is queued
  /// (``ReceiptOutcome/lookupFailure``). Each call counts once in the metric `entitled_receipts_total`, by its reason.
  ///
  /// - Throws: ``ReceiptError``. A rejected document is stored as evidence before the error is thrown.
  package func submit(
    _ incoming: IncomingReceipt,
    alongside: @escaping @Sendable (any StoreTransaction, ReceiptResult) throws(StoreError) -> Void = {
      (_, _) throws(StoreError) in
    }
  ) async throws(ReceiptError) -> ReceiptOutcome {
    do throws(ReceiptError) {
      let outcome = try await submitVerified(incoming, alongside)
      count(outcome.lookupFailure == nil ? "TAKEN" : "PENDING")
      return outcome
    } catch {
      count(error.reason)
      throw try await recordingRejection(of: incoming, error)
    }
  }

  /// The deadline of calls to Apple that may take `timeout` together.
  func deadline(after timeout: Duration) -> CallDeadline { CallDeadline(after: timeout, uptime) }

  private func count(_ reason: String) {
    Counter(label: "entitled_receipts_total", dimensions: [("reason", reason)]).increment()
  }

  /// Verifies, looks up and commits, with one deadline for all calls to Apple.
  private func submitVerified(
    _ incoming: IncomingReceipt,
    _ alongside: @escaping @Sendable (any StoreTransaction, ReceiptResult) throws(StoreError) -> Void
  ) async throws(ReceiptError) -> ReceiptOutcome {
    let app = try app(incoming.appID)
    let policy = policies[app.id] ?? ReceiptPolicy()
    var incoming = incoming
    incoming.deadline = incoming.deadline ?? incoming.timeout.map(deadline)
    let classified = try await classify(incoming, of: app, policy)
    return try await lookUp(classified, incoming, of: app, policy, alongside)
  }

  /// Verifies a receipt without a lookup and without storing anything.
  ///
  /// - Throws: ``ReceiptError/rejected(_:evidence:)``, always without evidence, and the errors of the verification.
  package func dryRun(_ incoming: IncomingReceipt) async throws(ReceiptError) -> (
    lines: [String], environment: Environment
  ) {
    let app = try app(incoming.appID)
    let classified = try await classify(incoming, of: app, policies[app.id] ?? ReceiptPolicy())
    return (classified.lines, classified.environment)
  }

  /// The definition of a configured app.
  private func app(_ id: String) throws(ReceiptError) -> AppDefinition {
    let catalog = catalog.value
    guard let app = catalog[id] else { throw .ledger(.unknownApp(id, configured: catalog.appIDs)) }
    return app
  }

  /// Stores a rejected document as evidence, and returns the error with its evidence id. Other errors are returned as
  /// they are. If the policy does not keep receipts, only the hash of the document is stored.
  private func recordingRejection(
    of incoming: IncomingReceipt, _ error: ReceiptError
  ) async throws(ReceiptError) -> ReceiptError {
    guard case .rejected(let rejection, evidence: nil) = error, let bytes = incoming.content.document else {
      return error
    }
    let keeps = policies[incoming.appID]?.keepsReceipts ?? false
    do throws(LedgerError) {
      let id = try await ledger.recordRejection(
        receipt: keeps ? EvidenceContent(hashing: bytes) : EvidenceContent(hashing: bytes, keepingAtMost: 0),
        of: incoming.appID, for: incoming.customerID, reason: rejection.reason, source: incoming.source)
      return .rejected(rejection, evidence: id)
    } catch {
      throw .ledger(error)
    }
  }
}

extension ReceiptIntake {
  /// Verifies the content, or takes the id that Apple is to be asked about.
  ///
  /// - Throws: ``ReceiptError/rejected(_:evidence:)`` without evidence, which the caller records;
  ///   ``ReceiptError/ledger(_:)`` for a customer id that cannot be stored.
  private func classify(
    _ incoming: IncomingReceipt, of app: AppDefinition, _ policy: ReceiptPolicy
  ) async throws(ReceiptError) -> ClassifiedReceipt {
    if let customerID = incoming.customerID {
      do throws(LedgerError) { try ledger.check(customerID, "customer_id") } catch { throw .ledger(error) }
    }
    switch incoming.content {
    case .originalTransactionID(let id):
      guard id.isTransactionID else { throw .rejected(.transactionIDZero, evidence: nil) }
      return .transactionID(id, try searched(incoming.environments, of: app), .originalTransactionID)
    case .receipt(let bytes): return try await verify(bytes, incoming, of: app, policy)
    case .text(let text): return try await verify(Array(text.utf8), incoming, of: app, policy)
    }
  }

  /// Recognizes and verifies a receipt, online too if the app requires it.
  private func verify(
    _ bytes: [UInt8], _ incoming: IncomingReceipt, of app: AppDefinition, _ policy: ReceiptPolicy
  ) async throws(ReceiptError) -> ClassifiedReceipt {
    let document: RecognizedDocument
    do { document = try RecognizedDocument(bytes) } catch {
      throw .rejected(ReceiptRejection(error), evidence: nil)
    }
    switch document {
    case .jws, .notificationV1: throw .rejected(.otherDocument, evidence: nil)
    case .transactionReceipt(let receipt): return try lookUp(transactionReceipt: receipt, of: app, policy)
    case .appReceipt(let receipt):
      let verified = try await verifier.verify(receipt, of: app, policy, incoming)
      guard !verified.hasOnlyZeros else { throw .rejected(.transactionIDZero, evidence: nil) }
      do throws(OnlineCheckError) { try await checkOnline?([document], app.id) } catch {
        if case .revoked = error { throw .rejected(.revoked(error), evidence: nil) }
        throw .onlineCheckFailed(error)
      }
      return .verified(verified)
    }
  }

  /// Takes the transaction id of an unsigned receipt from before iOS 7. It is not verified, so only Apple's answer
  /// about the id counts, and the policy must allow the call.
  private func lookUp(
    transactionReceipt bytes: [UInt8], of app: AppDefinition, _ policy: ReceiptPolicy
  ) throws(ReceiptError) -> ClassifiedReceipt {
    let receipt: TransactionReceipt
    do { receipt = try TransactionReceipt(parsing: bytes) } catch {
      throw .rejected(.notVerified(.notAReceipt(error.description)), evidence: nil)
    }
    if let bundle = receipt.bundleID, bundle != app.identity.bundleID {
      throw .rejected(.notVerified(.wrongBundle(bundle.debugDescription)), evidence: nil)
    }
    guard policy.looksUpUnverified else { throw .rejected(.notVerifiable, evidence: nil) }
    guard let id = receipt.originalTransactionID ?? receipt.transactionID, id.isTransactionID
    else { throw .rejected(.transactionIDZero, evidence: nil) }
    let environments = receipt.environment.map { [$0] } ?? []
    return .transactionID(id, try searched(environments, of: app), .transactionReceipt)
  }

  /// The search of a transaction id in `environments`, or in those of the app if there are none.
  ///
  /// - Throws: ``ReceiptError/rejected(_:evidence:)`` if the app does not accept the first environment, or if Apple has
  ///   purchases of none of them.
  private func searched(
    _ environments: [Environment], of app: AppDefinition
  ) throws(ReceiptError) -> SearchedEnvironments {
    let environments = environments.isEmpty ? app.environments : environments
    if let first = environments.first, !app.environments.contains(first) {
      throw .rejected(.notVerified(.wrongEnvironment(first.rawValue)), evidence: nil)
    }
    guard let searched = SearchedEnvironments(environments, of: app.id, through: lookup) else {
      throw .rejected(.notAtApple(environments), evidence: nil)
    }
    return searched
  }
}

extension IncomingReceipt.Content {
  /// The submitted bytes; `nil` for a transaction id.
  fileprivate var document: [UInt8]? {
    switch self {
    case .receipt(let bytes): bytes.isEmpty ? nil : bytes
    case .text(let text): text.isEmpty ? nil : Array(text.utf8)
    case .originalTransactionID: nil
    }
  }
}
