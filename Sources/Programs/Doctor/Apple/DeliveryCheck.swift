package import AppStore
internal import AppStoreClient
internal import JSON
internal import SignedData

/// Waits until Apple has delivered the test notification that ``KeyCheck`` requested, and looks for it in the service.
package struct DeliveryCheck: DoctorCheck {
  /// The running service's answer about a notification.
  package enum Receipt: Sendable {
    /// The service has it.
    case stored
    /// The service answered that it does not have it.
    case missing
    /// The service could not be called; the value is the reason.
    case unknown(String)
  }

  /// Queries the running service for the notification with this UUID.
  package typealias Inbox =
    @Sendable (_ notificationUUID: String, _ appID: String, _ environment: Environment) async -> Receipt

  /// The pause between two calls of Apple.
  private static let pollInterval = Duration.seconds(1)

  package let name = "notification"
  package var subject: String { access.subject }
  package let timeLimit: Duration
  private let access: AppleAccess
  private let url: String
  private let wait: Duration
  private let inbox: Inbox

  /// `url` is the address that App Store Connect needs. The check waits for `wait`.
  package init(
    _ access: AppleAccess, url: String, wait: Duration, inbox: @escaping Inbox
  ) {
    self.access = access
    self.url = url
    self.inbox = inbox
    self.wait = wait
    // The last call of Apple and the call of the service may take longer.
    timeLimit = wait + .seconds(30)
  }

  /// Depends on ``KeyCheck``, which must have run before.
  package func run() async -> Finding {
    switch access.testNotification {
    case .notRequested:
      return .notChecked("no test notification was requested", action: "see the line of the key")
    case .withoutURL:
      return .fault(
        "Apple has no URL for notifications",
        action: "enter \(url) in App Store Connect, App Information, with version 2")
    case .requested(let token): return await delivery(token)
    }
  }

  /// Queries Apple each second until it reports an attempt, or the time is over.
  private func delivery(_ token: String) async -> Finding {
    let end = ContinuousClock.now + wait
    repeat {
      do throws(AppStoreClientError) {
        let status = try await access.client.send(
          .testNotificationStatus(token: token), as: CheckTestNotificationResponse.self, timeout: .seconds(20)
        )
        access.add([status.signedPayload].compactMap(\.self))
        if let attempt = status.sendAttempts?.last?.sendAttemptResult {
          return await finding(of: attempt, status.signedPayload)
        }
      } catch .refused(.testNotificationNotFound, _) {
        // Apple has not sent it yet.
      } catch {
        return .fault(error.description, action: error.action)
      }
      try? await Task.sleep(for: Self.pollInterval)
    } while ContinuousClock.now < end && !Task.isCancelled
    return .fault(
      "Apple has not reported a delivery within \(wait.components.seconds) s",
      action: "try again with a longer --wait")
  }

  /// The outcome of Apple's attempt; after a success, that of the service.
  private func finding(of attempt: SendAttemptResult, _ payload: String?) async -> Finding {
    guard attempt == .success else {
      return .fault("Apple could not deliver: \(attempt.rawValue)", action: Self.action(after: attempt, url))
    }
    guard let payload, let jws = try? UnverifiedJWS(payload),
      let uuid = jws.payload["notificationUUID"]?.stringValue
    else { return .ok("delivered") }
    switch await inbox(uuid, access.appID, access.environment) {
    case .stored: return .ok("delivered, and stored by the service")
    case .unknown(let reason): return .ok("delivered; the service was not asked: \(reason)")
    case .missing:
      return .fault(
        "Apple delivered it, and this service did not receive it",
        action: "enter \(url) in App Store Connect; another server answers at the present URL")
    }
  }

  /// What the operator can do about a failed attempt.
  private static func action(after attempt: SendAttemptResult, _ url: String) -> String {
    switch attempt {
    case .tlsIssue: "see the line tls; Apple requires TLS 1.2 or newer and a public authority"
    case .noResponse, .timedOut, .socketIssue, .prematureClose:
      "let Apple's addresses (17.0.0.0/8) reach \(url)"
    case .circularRedirect, .unsuccessfulHTTPResponseCode, .invalidResponse, .unsupportedCharset:
      "let the proxy forward POST \(url) to the edge of the service"
    case .success, .other, .unrecognized: "let Apple reach \(url)"
    }
  }
}
