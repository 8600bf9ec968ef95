internal import AppStore
internal import AppStoreClient

/// Requests a test notification, for which Apple must accept the key. ``DeliveryCheck`` looks for its delivery.
package struct KeyCheck: DoctorCheck {
  package let name = "key"
  package var subject: String { access.subject }
  package let timeLimit = Duration.seconds(30)
  private let access: AppleAccess

  /// Checks the key of `access`, and stores the state of the test notification in it.
  package init(_ access: AppleAccess) { self.access = access }

  /// Apple's `401` is a fault, with the likely causes. A missing URL is no fault of the key: ``DeliveryCheck`` reports
  /// it.
  package func run() async -> Finding {
    do throws(AppStoreClientError) {
      let response = try await access.client.send(
        .testNotification, as: SendTestNotificationResponse.self, timeout: .seconds(20))
      guard let token = response.testNotificationToken else {
        throw .missing(field: "testNotificationToken")
      }
      access.testNotification = .requested(token: token)
    } catch .refused(.serverNotificationUrlNotFound, _) {
      access.testNotification = .withoutURL
    } catch {
      let hints = error == .unauthorized ? [access.keyContradiction, releaseHint] : []
      return .fault(
        error.description, action: (hints + [error.action]).compactMap(\.self).joined(separator: "; "))
    }
    return .ok("Apple accepts it")
  }

  /// Apple (developer forums, thread 742923): "If your app does not have a production release, you will receive 401 from
  /// production endpoints."
  private var releaseHint: String? {
    access.environment == .production
      ? "if the app has no release yet, wait for it, or leave Production out of environments until then" : nil
  }
}
