package import AppStore
package import AppStoreClient
internal import Synchronization

/// The way to Apple for one app in one environment, and what the checks have received through it.
package final class AppleAccess: Sendable {
  /// The app's id in the configuration.
  package let appID: String
  /// Production or Sandbox; each has separate hosts.
  package let environment: Environment
  /// The contradiction between the name of the key's file and the settings, in words; `nil` without one.
  let keyContradiction: String?
  /// Calls Apple with the app's In-App Purchase key.
  let client: AppStoreServerClient
  private let received = Mutex(Received())

  /// What the checks have received so far.
  private struct Received {
    var request = TestNotification.notRequested
    var documents: [String] = []
  }

  /// The state of the test notification.
  enum TestNotification: Sendable {
    /// ``KeyCheck`` has not run, or Apple rejected the key.
    case notRequested
    /// Apple accepted the request; the token selects the result.
    case requested(token: String)
    /// Apple accepts the key, and has no URL to send to.
    case withoutURL
  }

  /// Creates an access; no call is made.
  package init(
    appID: String, environment: Environment, keyContradiction: String?, client: AppStoreServerClient
  ) {
    self.appID = appID
    self.environment = environment
    self.keyContradiction = keyContradiction
    self.client = client
  }

  /// The name of the app and its environment, in reports.
  var subject: String { "\(appID) \(environment.rawValue)" }

  /// Set by ``KeyCheck``, and read by ``DeliveryCheck``.
  var testNotification: TestNotification {
    get { received.withLock { $0.request } }
    set { received.withLock { $0.request = newValue } }
  }

  /// Signed documents that Apple returned.
  var documents: [String] { received.withLock { $0.documents } }

  /// Adds documents for ``OCSPCheck``, which reads the certificates in them.
  func add(_ documents: [String]) { received.withLock { $0.documents += documents } }
}

extension AppStoreClientError {
  /// The action that the operator can take.
  var action: String {
    switch self {
    case .unauthorized, .signingFailed:
      "compare file, key_id and issuer_id of in_app_purchase_key, and bundle_id, with App Store Connect, "
        + "Users and Access, Integrations, In-App Purchase"
    case .clockSkew: "set the clock, and keep it right with NTP (chrony)"
    case .unreachable, .timedOut, .circuitOpen: "allow connections to Apple's host, port 443"
    case .rateLimited, .localRateLimit: "try again later"
    case .notJSON: "look for a proxy between this machine and Apple"
    case .refused, .serverFailed, .cancelled, .malformed, .missing, .tooLarge, .pageLoop, .unexpectedStatus:
      "try again, and look at Apple's system status"
    }
  }
}

/// The names that Apple gives to files of keys: `SubscriptionKey_ID.p8` for in-app purchases, `AuthKey_ID.p8` for other APIs.
///
/// The keys look alike, and Apple rejects all wrong ones in the same way.
package enum KeyFileName {
  /// A contradiction between the name of the file of an `in_app_purchase_key` and the configuration; `nil` if the file has a
  /// name of the operator's.
  package static func contradiction(path: String, keyID: String) -> String? {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard name.hasSuffix(".p8") else { return nil }
    if name.hasPrefix("AuthKey_") {
      return "'\(name)' is the name of a key for App Store Connect's API, push notifications or DeviceCheck; "
        + "the file of an In-App Purchase key is SubscriptionKey_ID.p8"
    }
    let prefix = "SubscriptionKey_"
    guard name.hasPrefix(prefix) else { return nil }
    let id = name.dropFirst(prefix.count).dropLast(".p8".count)
    return id == keyID ? nil : "the name '\(name)' has the key id \(id), and key_id is \(keyID)"
  }
}
