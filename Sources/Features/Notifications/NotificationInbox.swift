package import AppStore
internal import AppStoreClient
package import AppleLookup
internal import Entitlements
package import Ledger
package import SignedData
internal import Store

/// Ingests notifications of both versions: verifies them and commits them before it returns.
///
/// Version 2 is signed, so its documents decide. Version 1 is not: the shared secret authenticates it, and a lookup at
/// the App Store has to confirm it before it changes any fact.
package struct NotificationInbox: Sendable {
  let ledger: EvidenceLedger
  private let lookup: PurchaseLookup
  private let catalog: CurrentCatalog
  private let secrets: SharedSecrets
  private let recordArrival: @Sendable (AppEnvironment, Instant) -> Void
  private let checkOnline: OnlineCheck?

  /// The timeout of the lookup for version 1. After it, the sender has to send the notification again.
  private static let timeout = Duration.seconds(10)

  /// Creates an inbox. `secrets` are by app id, for the apps that accept version 1. `recordArrival` gets the time of each
  /// delivery. `checkOnline` runs before anything is written; `nil` if no app has online checks.
  package init(
    ledger: EvidenceLedger, lookup: PurchaseLookup, catalog: CurrentCatalog,
    secrets: SharedSecrets,
    recordArrival: @escaping @Sendable (AppEnvironment, Instant) -> Void, checkOnline: OnlineCheck? = nil
  ) {
    self.ledger = ledger
    self.lookup = lookup
    self.catalog = catalog
    self.secrets = secrets
    self.recordArrival = recordArrival
    self.checkOnline = checkOnline
  }

  /// Whether an app is configured.
  package func knows(_ appID: String) -> Bool { catalog.value[appID] != nil }

  /// Ingests a notification. When this returns, it is durable with all derived changes, or stored as rejected; when it
  /// throws, the sender should send it again.
  ///
  /// A notification with the UUID of a stored one is a duplicate and changes nothing. Arrivals count for the delivery
  /// statistics, except those from Apple's history.
  ///
  /// - Throws: ``LedgerError``: of an unknown app, of an online check without an answer, or of the store.
  package func ingest(
    _ notification: IncomingNotification
  ) async throws(LedgerError) -> ReceivedNotification {
    let received = try await dispatch(notification)
    if notification.source != .appStoreServerAPI, let environment = received.record.environment {
      // A relay whose clock is ahead must not hide the gap that follows.
      let now = ledger.clocks.now(in: environment)
      recordArrival(
        AppEnvironment(appID: notification.appID, environment: environment),
        min(notification.receivedAt ?? now, now))
    }
    return received
  }

  /// The finding of a replica that does not write about a notification. It decides the response to Apple; the leader
  /// stores the notification later.
  package enum Verdict: Hashable, Sendable {
    /// It is authentic and will be stored; `seal` is for ``IncomingNotification/seal``.
    case accepted(seal: [UInt8])
    /// It will be stored as rejected, if the sender may send it.
    case rejected
    /// Apple has to confirm it.
    case undecided
  }

  /// Judges a notification without storing it and without a call: if online checks are configured, an authentic
  /// notification stays undecided.
  ///
  /// - Throws: ``LedgerError/unknownApp(_:configured:)``; ``LedgerError/notVerifiable(_:)`` if the cryptographic
  ///   library failed, so that the notification is neither accepted nor rejected.
  package func verdict(on notification: IncomingNotification) throws(LedgerError) -> Verdict {
    switch NotificationBody(notification.body) {
    case .signed(let payload):
      guard let seal = try ledger.seal(payload, for: notification.appID) else { return .rejected }
      return checkOnline == nil ? .accepted(seal: seal) : .undecided
    case .unreadable: return .rejected
    case .unsigned(let body):
      return try rejection(of: notification, body) == nil ? .undecided : .rejected
    }
  }

  /// Ingests the notification by the version of its body. A body of no version is stored as rejected.
  private func dispatch(
    _ notification: IncomingNotification
  ) async throws(LedgerError) -> ReceivedNotification {
    switch NotificationBody(notification.body) {
    case .signed(let payload):
      try await ingestV2(notification, payload)
    case .unreadable(let reason, let problem):
      try await ledger.recordRejection(notification, as: .notificationV2, reason: reason, problem: problem)
    case .unsigned(let body):
      try await ingestV1(notification, body)
    }
  }

  /// Version 2: authentic by its signatures, and by the online check if the app has one.
  private func ingestV2(
    _ notification: IncomingNotification, _ payload: String
  ) async throws(LedgerError) -> ReceivedNotification {
    do throws(OnlineCheckError) {
      try await checkOnline?(RecognizedDocument.all(inside: payload), notification.appID)
    } catch {
      guard case .revoked = error else { throw .notChecked(error) }
      return try await ledger.recordRejection(
        notification, as: .notificationV2, reason: error.reason, problem: error.description)
    }
    return try await ledger.ingest(notification, signedPayload: payload)
  }

  /// Version 1: authenticated by the shared secret, and confirmed by a lookup.
  ///
  /// It is stored as unconfirmed before the lookup, so that a crash loses nothing. The lookup then sets the state:
  /// applied if Apple's documents were new, superseded if all were stored; it stays unconfirmed, with a reason, if
  /// Apple gave no answer. ``NotificationReprocessor`` can try those again.
  private func ingestV1(
    _ notification: IncomingNotification, _ body: ResponseBodyV1
  ) async throws(LedgerError) -> ReceivedNotification {
    if let rejection = try rejection(of: notification, body) {
      return try await ledger.recordRejection(
        notification, as: .notificationV1, reason: rejection.reason, problem: rejection.problem)
    }
    let environment = body.environment ?? .production
    func record(_ state: NotificationState, _ reason: String = "") async throws(LedgerError)
      -> ReceivedNotification
    {
      try await ledger.recordV1(notification, body, in: environment, state: state, reason: reason)
    }
    let pending = try await record(.unconfirmed, "CONFIRMATION_PENDING")
    guard !pending.isDuplicate else { return pending }
    guard let line = body.purchaseID else { return try await record(.unconfirmed, "NO_PURCHASE") }
    var request = PurchaseLookup.Request(
      appID: notification.appID, environment: environment, transactionID: line)
    request.priority = .repair
    request.timeout = Self.timeout
    let outcome: Result<PurchaseLookup.Result, LookupError>
    do throws(LookupError) {
      let result = try await lookup.fetchAll(request)
      try result.requireVerified()
      outcome = .success(result)
    } catch {
      outcome = .failure(error)
    }
    switch outcome {
    case .success(let result): return try await record(result.newDocuments > 0 ? .applied : .superseded)
    case .failure(.noKey): return try await record(.unconfirmed, "NO_IN_APP_PURCHASE_KEY")
    case .failure(.rejectedDocument): return try await record(.unconfirmed, "APP_STORE_RESPONSE_NOT_GENUINE")
    case .failure(.ledger(let error)): throw error
    case .failure(.cancelled): return try await record(.unconfirmed, "APP_STORE_UNAVAILABLE")
    case .failure(.appStore(let error)): return try await record(.unconfirmed, error.pendingReason)
    }
  }

  /// Returns the reason to reject a notification of version 1, as a stable code and a text; `nil` to look its purchase
  /// up. A missing environment is Production, as Apple's old notifications have none.
  private func rejection(
    of notification: IncomingNotification, _ body: ResponseBodyV1
  ) throws(LedgerError) -> (reason: String, problem: String)? {
    guard let app = catalog.value[notification.appID] else {
      throw .unknownApp(notification.appID, configured: catalog.value.appIDs)
    }
    guard let secret = secrets[app.id] else {
      return ("NO_SHARED_SECRET", "the app has no shared_secret, which version 1 needs")
    }
    guard let password = body.password, secret.matches(password) else {
      return ("WRONG_SHARED_SECRET", "the password is not the app's shared secret")
    }
    if let bundle = body.bid, bundle != app.identity.bundleID {
      return ("WRONG_BUNDLE", "the notification is for the bundle id \(bundle.debugDescription)")
    }
    guard app.environments.contains(body.environment ?? .production) else {
      return ("WRONG_ENVIRONMENT", "the app does not accept \((body.environment ?? .production).rawValue)")
    }
    if let field = body.fieldThatCannotBeStored {
      return ("MALFORMED_FIELD", "\(field) has more than \(ResponseBodyV1.maxBytes) bytes, or a NUL")
    }
    return nil
  }
}

extension ResponseBodyV1 {
  /// The maximum length of a text that the store has in a column, in bytes: that of names and ids in the contract.
  fileprivate static let maxBytes = 256

  /// The name of a field that PostgreSQL would refuse; `nil` if there is none.
  fileprivate var fieldThatCannotBeStored: String? {
    let stored = [("notification_type", notificationType?.rawValue), ("original_transaction_id", purchaseID)]
    return stored.first { _, text in
      text.map { $0.utf8.count > Self.maxBytes || $0.utf8.contains(0) } ?? false
    }?.0
  }
}

extension RecognizedDocument {
  /// Returns a notification of version 2 and the signed documents in it, all unverified.
  static func all(inside signedPayload: String) -> [RecognizedDocument] {
    guard let jws = try? UnverifiedJWS(signedPayload),
      let payload = try? ResponseBodyV2DecodedPayload(json: jws.payload)
    else { return [.jws(signedPayload)] }
    let inside = [
      payload.signedTransactionInfo, payload.signedRenewalInfo, payload.signedAppTransactionInfo,
    ]
    return [.jws(signedPayload)] + inside.compactMap { $0.map(RecognizedDocument.jws) }
  }
}

extension AppStoreClientError {
  /// The reason code of a notification or consumption request that waits for the App Store.
  var pendingReason: String {
    switch self {
    // Apple's servers failed, which an error code from 5000000 on says.
    case .refused(let code, _) where code.rawValue < 5_000_000: "APP_STORE_REFUSED_\(code.rawValue)"
    case .unauthorized, .clockSkew: "APP_STORE_KEY_REJECTED"
    default: "APP_STORE_UNAVAILABLE"
    }
  }
}
