internal import AppStore
package import Callers
internal import Entitlements
internal import HTTP
internal import Ledger
internal import Metrics
internal import RPC
package import SideBySide
internal import Store

/// `POST /import/revenuecat/{app}` on the edge: RevenueCat's webhooks, which are compared with the answers here.
///
/// RevenueCat sends an event again unless the status is 200 (RevenueCat, "Webhooks"). An event is confirmed when it is
/// stored; a replica that does not lead hands it to the leader through the database.
package struct RevenueCatEndpoint: Sendable {
  static let prefix = "/import/revenuecat/"
  /// The pattern in metrics and in the OpenAPI document.
  static let route = "/import/revenuecat/{app}"

  private static let maxBytes = 1 << 18
  /// The longest wait of an event for a store that does not take it.
  private static let storeTimeout = Duration.seconds(5)
  private static let pause = Duration.milliseconds(50)

  private let receiver: RevenueCatReceiver
  private let limiter: AddressLimiter
  private let leadership: Leadership

  /// - Parameters:
  ///   - receiver: authenticates and stores the events.
  ///   - limiter: limits the refused posts of each address.
  ///   - leadership: whether this process writes.
  package init(receiver: RevenueCatReceiver, limiter: AddressLimiter, leadership: Leadership) {
    self.receiver = receiver
    self.limiter = limiter
    self.leadership = leadership
  }

  /// Whether a path is that of an event.
  func serves(_ path: String) -> Bool { path.hasPrefix(Self.prefix) }

  /// Responds to a request to a path that ``serves(_:)`` accepts.
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    if let refusal = request.refusalOfDocument(limit: Self.maxBytes) { return refusal }
    let event: ImportedEvent
    do throws(RevenueCatRejection) {
      event = try receiver.event(
        request.body, authorization: request.header("authorization"),
        signature: request.header(RevenueCatReceiver.signatureHeader),
        of: String(request.path.dropFirst(Self.prefix.count)))
    } catch {
      return refuse(error, request)
    }
    guard let result = await store(event) else { return .notStored(retryAfterSeconds: 1) }
    Counter(
      label: "entitled_imported_events_total",
      dimensions: [("app", event.appID), ("environment", event.environment.rawValue), ("result", result)]
    ).increment()
    return .explained(200, result, "stored; it is compared within seconds")
  }

  /// Stores an event here or through the leader. While another replica takes over, it tries again for some seconds.
  ///
  /// - Returns: the result; `nil` if it is not stored.
  private func store(_ event: ImportedEvent) async -> String? {
    let end = ContinuousClock.now + Self.storeTimeout
    while true {
      if let inbox = leadership.replication?.inbox, !leadership.executesWrites {
        var context = ForwardedContext()
        context.receivedAt = event.receivedAt
        let entry = InboxEntry(
          kind: .importedEvent, appID: event.appID, method: "", caller: "", context: context.encoded,
          body: event.body)
        if (try? await inbox.append(entry)) != nil { return "ACCEPTED" }
      } else {
        do throws(LedgerError) {
          return try await receiver.store(event) ? "STORED" : "ALREADY_STORED"
        } catch {
          guard error.isPassing else { return nil }
        }
      }
      guard ContinuousClock.now < end, (try? await Task.sleep(for: Self.pause)) != nil else { return nil }
    }
  }

  /// Refuses a request; the refused requests of each address are limited.
  private func refuse(_ refusal: RevenueCatRejection, _ request: HTTPRequest) -> HTTPResponse {
    Counter(label: "entitled_import_refusals_total", dimensions: [("reason", refusal.reason)]).increment()
    let status: Int
    switch refusal {
    // Sent again it would be refused again.
    case .otherEnvironment: return .explained(200, refusal.reason, refusal.description.excerpt)
    case .unknownApp: status = 404
    case .unauthenticated, .unsigned, .wrongSignature, .staleSignature: status = 401
    case .malformed: status = 400
    }
    if let delay = limiter.delay(of: request.address) {
      return .explained(429, "TOO_MANY_REJECTIONS", "too many requests that are refused")
        .retry(afterMilliseconds: delay)
    }
    return .explained(status, refusal.reason, refusal.description.excerpt)
  }
}
