package import AppStore
package import Entitlements
package import Store

/// One receiver, as the operator configured it.
package struct WebhookSettings: Hashable, Sendable {
  package let key: WebhookKey
  /// May carry secrets; see ``redactedURL``.
  let url: String
  /// Each signs; none where Apple's notifications go out as they came.
  let secrets: [WebhookSecret]
  let selection: EventSelection
  let schedule: RetrySchedule
  /// How many customers' messages are on their way at a time.
  let concurrency: Int

  /// A receiver of an app by its parts.
  package init(
    key: WebhookKey, url: String, secrets: [WebhookSecret] = [], kinds: Set<EntitlementChange.Kind> = [],
    environments: Set<Environment> = [], schedule: RetrySchedule = .standard, concurrency: Int = 8
  ) {
    self.key = key
    self.url = url
    self.secrets = secrets
    selection = EventSelection(appID: key.appID, kinds: kinds, environments: environments)
    self.schedule = schedule
    self.concurrency = concurrency
  }

  /// Where to, without the query, in which a secret may stand.
  package var redactedURL: String { String(url.prefix { $0 != "?" }) }

  /// Where its messages come from; events are written by `encode`.
  func source(_ encode: @escaping EventEncoding) -> any MessageSource {
    switch key.kind {
    case .events: EventSource(filter: selection, encode: encode)
    case .notifications:
      NotificationSource(appID: key.appID, environments: selection.environments)
    }
  }
}
