internal import AppStore
internal import AppStoreClient
internal import Configuration
internal import Entitlements
internal import SignedData
internal import Store
internal import Webhooks

extension Startup {
  /// The receivers of all apps.
  static func outlets(_ configuration: ServiceConfiguration) throws -> [WebhookSettings] {
    var outlets: [WebhookSettings] = []
    for app in configuration.apps {
      let id = app.definition.id
      for webhook in app.webhooks { outlets.append(try outlet(webhook, .events, of: id)) }
      for forwarding in app.forwardings { outlets.append(try outlet(forwarding, .notifications, of: id)) }
    }
    return outlets
  }

  private static func outlet(
    _ webhook: WebhookConfiguration, _ kind: WebhookKey.Kind, of appID: String
  ) throws -> WebhookSettings {
    WebhookSettings(
      key: WebhookKey(appID: appID, kind: kind, name: webhook.name), url: webhook.url,
      secrets: try webhook.secrets.map { try secret($0, of: webhook.name, appID) }, kinds: webhook.kinds,
      environments: webhook.environments,
      schedule: webhook.retrySeconds.map(RetrySchedule.init) ?? .standard, concurrency: webhook.concurrency)
  }

  private static func secret(
    _ source: SecretSource, of name: String, _ appID: String
  ) throws -> WebhookSecret {
    guard let secret = WebhookSecret(try text(of: source)) else {
      throw Failure(
        "the secret of webhook \(name) of app \(appID) is not whsec_ and base64 of 24 to 64 bytes")
    }
    return secret
  }
}
