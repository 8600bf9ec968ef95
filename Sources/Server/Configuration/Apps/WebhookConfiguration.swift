package import AppStore
package import Entitlements

/// A webhook, which receives an app's events or Apple's notifications.
package struct WebhookConfiguration: Hashable, Sendable {
  /// The name, which also identifies the stored cursor.
  package let name: String
  /// The URL: https, unless it is local or `allow_http` is set.
  package let url: String
  /// The signing secrets, newest first; empty for forwarded notifications.
  package let secrets: [SecretSource]
  /// The selected event types; empty selects all.
  package let kinds: Set<EntitlementChange.Kind>
  /// The selected environments; empty selects all.
  package let environments: Set<Environment>
  /// The form of the messages of events.
  package let format: Format
  /// Seconds between attempts; `nil` selects the schedule of Standard Webhooks.
  package let retrySeconds: [Int64]?
  /// The maximum number of concurrent requests.
  package let concurrency: Int
}

extension WebhookConfiguration {
  /// The value of `format`.
  package enum Format: String, Hashable, Sendable, CaseIterable {
    /// The JSON of the contract's event, in the envelope of Standard Webhooks.
    case standard
    /// A CloudEvents message in JSON.
    case cloudEvents = "cloudevents"
  }

  private static let common = ["url", "environments", "allow_http", "retry_seconds", "concurrency"]
  private static let defaultConcurrency = 8

  /// Parses `webhooks` of an app.
  static func webhooks(_ node: ConfigurationNode?) throws(ConfigurationError) -> [WebhookConfiguration] {
    try named(node) { node, name throws(ConfigurationError) in
      let members = try node.members(common + ["secret", "events", "format"])
      return try WebhookConfiguration(
        name: name, members, secrets: members.part(secrets(members.required("secret"))) ?? [],
        kinds: members.part(members["events"].map(kinds)) ?? [],
        format: members.part(members["format"]?.choice(of: "format")) ?? .standard)
    }
  }

  /// Parses `forward_notifications` of an app.
  static func forwardings(_ node: ConfigurationNode?) throws(ConfigurationError) -> [WebhookConfiguration] {
    try named(node) { node, name throws(ConfigurationError) in
      try WebhookConfiguration(name: name, node.members(common), secrets: [], kinds: [], format: .standard)
    }
  }

  /// Parses the keys that both kinds of webhooks have. `url` is required; 8 requests run at the same time by default.
  private init(
    name: String, _ members: ConfigurationNode.Members, secrets: [SecretSource],
    kinds: Set<EntitlementChange.Kind>, format: Format
  ) throws(ConfigurationError) {
    self.name = name
    self.secrets = secrets
    self.kinds = kinds
    self.format = format
    let allowsHTTP = try members.part(members["allow_http"]?.flag()) ?? false
    url = try members.part(Self.url(members.required("url"), allowsHTTP: allowsHTTP)) ?? ""
    environments = Set(try members.part(members["environments"]?.values(Environment.init)) ?? [])
    retrySeconds = try members.part(members["retry_seconds"].map(Self.delays))
    concurrency =
      try members.part(members["concurrency"].map(Self.concurrency)) ?? Self.defaultConcurrency
  }

  /// Parses a mapping of names to webhooks, ordered by name. A complete check leaves out those with errors.
  private static func named(
    _ node: ConfigurationNode?,
    _ read: (ConfigurationNode, String) throws(ConfigurationError) -> WebhookConfiguration
  ) throws(ConfigurationError) -> [WebhookConfiguration] {
    var webhooks: [WebhookConfiguration] = []
    for (name, entry) in try node?.entries() ?? [] {
      let webhook = ConfigurationNode(renaming: entry, "webhook \(name)")
      if let webhook = try entry.part(read(webhook, name)) { webhooks.append(webhook) }
    }
    return webhooks.sorted { $0.name < $1.name }
  }

  /// Parses one secret, or a list of one to three: the new one first, and those that receivers may still use.
  private static func secrets(_ node: ConfigurationNode) throws(ConfigurationError) -> [SecretSource] {
    guard node.isList else { return [try SecretSource(node)] }
    guard (1...3).contains(try node.list().count) else {
      throw node.error("\(node.name) requires one to three secrets")
    }
    return try node.values(SecretSource.init)
  }

  /// Parses a list of event types, not empty: a webhook without the key receives all.
  private static func kinds(
    _ node: ConfigurationNode
  ) throws(ConfigurationError) -> Set<EntitlementChange.Kind> {
    var kinds: Set<EntitlementChange.Kind> = []
    for item in try node.list() { kinds.insert(try item.choice(of: "event")) }
    guard !kinds.isEmpty else { throw node.error("\(node.name) is empty") }
    return kinds
  }

  /// Parses a URL. Events contain personal data, so that http is limited to this machine unless it is allowed.
  private static func url(_ node: ConfigurationNode, allowsHTTP: Bool) throws(ConfigurationError) -> String {
    let url = try node.url(such: "https://example.com/hooks")
    guard !url.hasUser else {
      throw node.error("\(node.name) must not contain a user or a password")
    }
    guard url.isHTTPS || url.isThisMachine || allowsHTTP else {
      throw node.error("\(node.name) is not https; set allow_http: true to allow http")
    }
    return url.text
  }

  /// Parses at most 50 delays of 1 second to 7 days. An attempt follows each of them.
  private static func delays(_ node: ConfigurationNode) throws(ConfigurationError) -> [Int64] {
    var delays: [Int64] = []
    for item in try node.list() {
      let seconds = try item.number()
      guard (1...604_800).contains(seconds) else {
        throw item.error("\(item.name) is not between 1 and 604800")
      }
      delays.append(seconds)
    }
    guard delays.count <= 50 else { throw node.error("\(node.name) has more than 50 entries") }
    return delays
  }

  /// Parses the number of concurrent requests, 1 to 64.
  private static func concurrency(_ node: ConfigurationNode) throws(ConfigurationError) -> Int {
    let number = try node.number()
    guard (1...64).contains(number) else { throw node.error("\(node.name) is not between 1 and 64") }
    return Int(number)
  }
}
