package import AppStore
internal import AppStoreClient
package import AppleLookup
internal import Entitlements
package import Ledger
package import SignedData
package import Store

/// Where notifications come in, of either version: told apart, verified, and durable before the answer.
package struct NotificationInbox: Sendable {
  let ledger: EvidenceLedger
  private let lookup: PurchaseLookup
  private let catalog: CurrentCatalog
  private let secrets: [String: SharedSecret]
  private let recordArrival: @Sendable (AppEnvironment, Instant) -> Void
  private let checkOnline: OnlineCheck?

  /// For how long Apple is asked before the notification has to come again: its sender does not wait for
  /// ever.
  private static let timeout = Duration.seconds(10)

  /// An inbox before `ledger`. `secrets` are those of the apps that take notifications of version 1, by the
  /// operator's names for the apps. `recordArrival` gets the time of each delivery. `checkOnline` asks about certificates
  /// before anything is written; `nil`: no app wants that.
  package init(
    ledger: EvidenceLedger, lookup: PurchaseLookup, catalog: CurrentCatalog,
    secrets: [String: SharedSecret],
    recordArrival: @escaping @Sendable (AppEnvironment, Instant) -> Void, checkOnline: OnlineCheck? = nil
  ) {
    self.ledger = ledger
    self.lookup = lookup
    self.catalog = catalog
    self.secrets = secrets
    self.recordArrival = recordArrival
    self.checkOnline = checkOnline
  }

  /// Takes in a notification. When this returns it is durable with all that follows from it, or kept as
  /// rejected; when it throws, it should come again.
  package func ingest(
    _ notification: IncomingNotification
  ) async throws(LedgerError) -> ReceivedNotification {
    let received = try await dispatch(notification)
    if notification.source != .appStoreServerAPI, let environment = received.record.environment {
      recordArrival(
        AppEnvironment(appID: notification.appID, environment: environment), notification.receivedAt)
    }
    return received
  }

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

  /// Version 2: true by its signatures, and by its certificates where the app has their authority asked.
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

  /// Version 1: known by the shared secret, and true as far as Apple confirms it.
  private func ingestV1(
    _ notification: IncomingNotification, _ body: ResponseBodyV1
  ) async throws(LedgerError) -> ReceivedNotification {
    if let refusal = try refusal(of: notification, body) {
      return try await ledger.recordRejection(
        notification, as: .notificationV1, reason: refusal.reason, problem: refusal.problem)
    }
    let environment = body.environment ?? .production
    func keep(_ state: NotificationState, _ reason: String = "") async throws(LedgerError)
      -> ReceivedNotification
    {
      try await ledger.recordV1(notification, body, in: environment, state: state, reason: reason)
    }
    let waiting = try await keep(.unconfirmed, "CONFIRMATION_PENDING")
    guard !waiting.isDuplicate else { return waiting }
    guard let line = body.lineID else { return try await keep(.unconfirmed, "NO_PURCHASE") }
    var request = PurchaseLookup.Request(
      appID: notification.appID, environment: environment, transactionID: line)
    request.priority = .repair
    request.timeout = Self.timeout
    let found: Result<PurchaseLookup.Result, LookupError>
    do throws(LookupError) {
      let result = try await lookup.fetchAll(request)
      try result.requireVerified()
      found = .success(result)
    } catch {
      found = .failure(error)
    }
    switch found {
    case .success(let result): return try await keep(result.changed > 0 ? .applied : .superseded)
    case .failure(.noKey): return try await keep(.unconfirmed, "NO_IN_APP_PURCHASE_KEY")
    case .failure(.rejectedDocument): return try await keep(.unconfirmed, "APP_STORE_RESPONSE_NOT_GENUINE")
    case .failure(.ledger(let error)): throw error
    case .failure(.appStore(let error)): return try await keep(.unconfirmed, error.pendingReason)
    }
  }

  /// Why a notification of version 1 is not to be believed; `nil` if it may be.
  private func refusal(
    of notification: IncomingNotification, _ body: ResponseBodyV1
  ) throws(LedgerError) -> (reason: String, problem: String)? {
    guard let app = catalog.value[notification.appID] else {
      throw .unknownApp(notification.appID, configured: catalog.value.appIDs)
    }
    guard let secret = secrets[app.id] else {
      return ("NO_SHARED_SECRET", "the app has no shared_secret, without which version 1 is not believed")
    }
    guard let password = body.password, secret.matches(password) else {
      return ("WRONG_SHARED_SECRET", "the password is not the app's shared secret")
    }
    guard body.bid == nil || body.bid == app.identity.bundleID else {
      return ("WRONG_BUNDLE", "the notification is about the app \(body.bid.debugDescription)")
    }
    guard app.environments.contains(body.environment ?? .production) else {
      return ("WRONG_ENVIRONMENT", "the app has no environment \((body.environment ?? .production).rawValue)")
    }
    return nil
  }
}
