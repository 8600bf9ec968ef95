internal import AppStore
package import Callers
package import HTTP
internal import Ledger
package import Notifications
internal import RPC
internal import SignedData
internal import Store
internal import Telemetry

/// `POST /notifications/{app}` on the edge: App Store Server Notifications.
///
/// Apple retries unless the status is 200 to 206 (App Store Server Notifications, "Respond to
/// notifications").
package struct NotificationEndpoint: Sendable {
  static let prefix = "/notifications/"

  private let inbox: NotificationInbox
  private let limiter: AddressLimiter
  private let audit: @Sendable (AuditRecord) -> Void
  private let refusals: RefusalLog

  /// - Parameters:
  ///   - inbox: ingests the notifications.
  ///   - limiter: limits the rejected posts of each address.
  ///   - audit: receives a record of each notification that could not be stored.
  ///   - refusals: logs the senders of rejected notifications, and of those that the App Store could not confirm.
  package init(
    inbox: NotificationInbox, limiter: AddressLimiter, audit: @escaping @Sendable (AuditRecord) -> Void,
    refusals: RefusalLog
  ) {
    self.inbox = inbox
    self.limiter = limiter
    self.audit = audit
    self.refusals = refusals
  }

  /// Whether a path is that of a notification.
  package func serves(_ path: String) -> Bool { path.hasPrefix(Self.prefix) }

  /// Responds to a request to a path that ``serves(_:)`` accepts.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    do throws(LedgerError) { return try await ingest(request) } catch { return answer(to: error, request) }
  }

  /// Ingests the notification of a request; returns the response to one that is stored or refused.
  ///
  /// - Throws: ``LedgerError`` if it is not stored, for callers that repeat the request; `answer(to:_:)` is the
  ///   response to it.
  func ingest(_ request: HTTPRequest) async throws(LedgerError) -> HTTPResponse {
    if let refusal = request.refusalOfDocument(limit: NotificationBody.maxSize) { return refusal }
    var notification = Self.notification(request)
    notification.rejectionDelay = { [limiter, address = request.address] in limiter.delay(of: address) }
    let received = try await inbox.ingest(notification)
    NotificationMetrics.count(received)
    let response = Self.answer(to: received)
    if received.record.state == .rejected || response.status == 503 {
      recordRefusal(of: request, because: received.record.reason)
    }
    return response
  }

  /// Logs a notification that was rejected, or is answered by 503 without an audit record.
  func recordRefusal(of request: HTTPRequest, because reason: String) {
    let appID = Self.appID(ofPath: request.path)
    refusals.record(
      reason, of: Self.auditedMethod, app: inbox.knows(appID) ? appID : "", from: request.address)
  }

  private static func notification(_ request: HTTPRequest) -> IncomingNotification {
    IncomingNotification(appID: appID(ofPath: request.path), body: request.body, source: .notification)
  }

  /// The name in the log, without the sender's path.
  private static let auditedMethod = "POST \(prefix){app}"

  /// The app that a path names.
  static func appID(ofPath path: String) -> String { String(path.dropFirst(prefix.count)) }

  /// The response to the sender. Apple sends the notification again after 503, and not after 200 and 202.
  private static func answer(to received: ReceivedNotification) -> HTTPResponse {
    let record = received.record
    switch record.state {
    case .applied, .superseded, .unsupported:
      return .explained(200, record.state.rawValue, record.meaning)
    case .rejected:
      // The notification can never become valid, so a retry would not help.
      return .explained(202, record.reason, received.problem)
    case .unconfirmed where record.reason == "APP_STORE_UNAVAILABLE":
      return .explained(503, record.reason, "the App Store could not confirm it; please send it again")
    case .unconfirmed:
      return .explained(202, record.reason, "stored; \(effect(ofUnconfirmed: record.reason))")
    }
  }

  private static func effect(ofUnconfirmed reason: String) -> String {
    switch reason {
    case "NO_PURCHASE": "it names no purchase that the App Store could confirm"
    case "NO_IN_APP_PURCHASE_KEY": "it takes effect once it is reprocessed with an In-App Purchase key"
    default: "it takes effect once the App Store confirms it"
    }
  }

  /// Responds to a notification that was not stored, and audits it. The response hides internal errors; the operator's
  /// log contains them.
  func answer(to error: LedgerError, _ request: HTTPRequest) -> HTTPResponse {
    // Anyone can call, so the response names no configured app.
    if case .unknownApp = error { return .explained(404, "UNKNOWN_APP", "unknown app") }
    if case .tooManyRejections(let wait) = error {
      recordRefusal(of: request, because: "TOO_MANY_REJECTIONS")
      return .explained(429, "TOO_MANY_REJECTIONS", error.description).retry(afterMilliseconds: wait)
    }
    audit(
      AuditRecord(
        caller: "", method: Self.auditedMethod, mutates: false,
        apps: [Self.appID(ofPath: request.path)],
        customers: [],
        actor: "",
        outcome: Status(error).code.name, reason: Status(error).reason ?? "", error: error.description,
        trace: TraceContext.current
          ?? TraceContext(continuing: request.header("traceparent"))))
    if case .notChecked(let unavailable) = error {
      return .explained(503, unavailable.reason, "please send it again")
    }
    return .notStored(retryAfterSeconds: Status(error).retrySeconds)
  }
}

// In a replica that does not write: it judges a notification, and the leader stores it.
extension NotificationEndpoint {
  /// Refuses a request that is no notification, or whose sender sends too many that are rejected; accepts an authentic
  /// notification.
  func judge(_ request: HTTPRequest) -> LocalVerdict {
    if let refusal = request.refusalOfDocument(limit: NotificationBody.maxSize) { return .refused(refusal) }
    do throws(LedgerError) {
      switch try inbox.verdict(on: Self.notification(request)) {
      case .accepted(let seal):
        return .accepted(.explained(200, "ACCEPTED", "stored; it takes effect within seconds"), seal: seal)
      case .undecided: return .undecided
      case .rejected:
        guard let delay = limiter.delay(of: request.address) else { return .undecided }
        return .refused(answer(to: .tooManyRejections(retryAfterMilliseconds: delay), request))
      }
    } catch {
      return .refused(answer(to: error, request))
    }
  }
}
