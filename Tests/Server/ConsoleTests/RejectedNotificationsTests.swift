import HTTP
import RPC
import Testing
import Wire

@testable import Console
@testable import Services

/// The last rejected notification of an app, on the pages with all apps.
@Suite struct RejectedNotificationsTests {
  private static func time(_ seconds: Int64) -> GoogleProtobuf.Timestamp { .with { $0.seconds = seconds } }

  /// One app whose last accepted notification arrived at 1,000 s in the sandbox, and none in production.
  private static var status: Method {
    .asyncUnary(Calls.getStatus.path) {
      (_: GetStatusRequest, _) async throws(Status) -> GetStatusResponse in
      .with {
        $0.apps = [
          .with {
            ($0.app, $0.environment, $0.lastNotificationAt) = ("ocean", .sandbox, Self.time(1_000))
          },
          .with { ($0.app, $0.environment) = ("ocean", .production) },
        ]
      }
    }
  }

  private static func rejected(at seconds: Int64?) -> Method {
    .asyncUnary(Calls.listNotifications.path) {
      (request: ListNotificationsRequest, _) async throws(Status) -> ListNotificationsResponse in
      .with {
        guard let seconds, request.state == .rejected, request.pageSize == 1 else { return }
        $0.notifications = [
          .with { ($0.state, $0.reason, $0.receivedAt) = (.rejected, "UNTRUSTED<ROOT", Self.time(seconds)) }
        ]
      }
    }
  }

  @Test("A rejection is a warning if no notification was accepted later", arguments: ["/apps", "/status"])
  func tone(page: String) async throws {
    for (seconds, inSandbox) in [(900, "quiet"), (1_100, "chip none")] as [(Int64, String)] {
      let response = try await SignedInConsole([Self.status, Self.rejected(at: seconds)]).get(page)
      let text = String(decoding: response.body, as: UTF8.self)
      for (environment, tone) in [("sandbox", inSandbox), ("production", "chip none")] {
        let link = "<a href=\"/a/ocean/\(environment)/work/rejected\">Rejected: <time"
        let cell = try #require(text.split(separator: link).dropFirst().first)
        #expect(cell.contains("</time></a> <span class=\"\(tone)\">untrusted&lt;root</span>"))
      }
    }
  }

  @Test(
    "Without one, and if the list cannot be read, the pages have the accepted one", arguments: [false, true])
  func none(isRead: Bool) async throws {
    let methods = [Self.status] + (isRead ? [Self.rejected(at: nil)] : [])
    for page in ["/apps", "/status"] {
      let response = try await SignedInConsole(methods).get(page)
      let text = String(decoding: response.body, as: UTF8.self)
      #expect(response.status == 200 && text.contains("1970-01-01 00:16"))
      #expect(!text.contains("work/rejected"))
    }
  }
}
