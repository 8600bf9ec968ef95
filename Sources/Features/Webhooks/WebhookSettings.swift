package import AppStore
internal import Bytes
package import Entitlements
internal import SignedData
package import Store

/// The form of the messages of a webhook.
package enum WebhookFormat: Hashable, Sendable, CaseIterable {
  /// Standard Webhooks: `type`, `timestamp` and `data`.
  case standard
  /// CloudEvents 1.0 in structured mode (CloudEvents, "JSON Event Format"). Headers and signature are those of Standard
  /// Webhooks.
  case cloudEvents

  /// The value of the header `content-type`.
  var contentType: String {
    switch self {
    case .standard: "application/json"
    case .cloudEvents: "application/cloudevents+json"
    }
  }
}

/// The configuration of one webhook.
package struct WebhookSettings: Hashable, Sendable {
  /// The app and the operator's name for the webhook.
  package let key: WebhookKey
  /// May contain secrets; see ``redactedURL``.
  let url: String
  /// The signing secrets; none for forwarded notifications.
  let secrets: [WebhookSecret]
  /// The events that it receives.
  let selection: EventSelection
  /// Applies to events; forwarded notifications are sent as Apple wrote them.
  let format: WebhookFormat
  /// The times of further attempts after a failure, and the age at which a message becomes a dead letter.
  let schedule: RetrySchedule
  /// The maximum number of ordering keys with a message in flight, from 1 to 64.
  let concurrency: Int

  /// Creates settings. Without `kinds` or `environments`, the webhook receives all.
  package init(
    key: WebhookKey, url: String, secrets: [WebhookSecret] = [], format: WebhookFormat = .standard,
    kinds: Set<EntitlementChange.Kind> = [],
    environments: Set<Environment> = [], schedule: RetrySchedule = .standard, concurrency: Int = 8
  ) {
    self.key = key
    self.url = url
    self.secrets = secrets
    selection = EventSelection(appID: key.appID, kinds: kinds, environments: environments)
    self.format = format
    self.schedule = schedule
    self.concurrency = concurrency
  }

  /// The URL without its query, which may contain a secret.
  package var redactedURL: String { String(url.prefix { $0 != "?" }) }

  /// Returns the source of its messages. Forwarded notifications ignore the format and the kinds.
  func source(_ encode: @escaping EventEncoding) -> any MessageSource {
    switch key.kind {
    case .events: EventSource(filter: selection, format: format, encode: encode)
    case .notifications:
      NotificationSource(appID: key.appID, environments: selection.environments)
    }
  }
}

/// The signing secret of a webhook (Standard Webhooks, "Signature scheme"): 24 to 64 random bytes, written as `whsec_`
/// and base64. Never log or show it.
package struct WebhookSecret: Hashable, Sendable {
  private static let prefix = "whsec_"
  private static let sizes = 24...64

  private let key: [UInt8]

  /// Parses a secret; `nil` without the prefix `whsec_`, for other characters than those of base64, and for a key of
  /// less than 24 or more than 64 bytes.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.prefix),
      let key = Base64.standard.decode(Array(text.utf8)[Self.prefix.utf8.count...]),
      Self.sizes.contains(key.count)
    else { return nil }
    self.key = key
  }

  /// Creates a secret from its bytes, of any number.
  package init(key: [UInt8]) { self.key = key }

  /// Returns `v1,` and base64 of the HMAC-SHA256 over `id.timestamp.body`; `timestamp` is in seconds since 1970.
  func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    let code = HMACSHA256.code(of: Array("\(id).\(timestamp).".utf8) + body, key: key)
    return "v1," + Base64.standard.encode(code)
  }
}
