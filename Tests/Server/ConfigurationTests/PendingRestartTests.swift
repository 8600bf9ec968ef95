import Testing

@testable import Configuration

@Suite("Settings that apply from the next start on")
struct PendingRestartTests {
  private static let start = """
    apps:
      sea:
        bundle_id: com.example.sea
        environments: [Sandbox]
        in_app_purchase_key: {file: sea.p8, key_id: ABC, issuer_id: issuer}
        products:
          pro: {type: Non-Consumable, entitlements: [pro]}
      lake:
        bundle_id: com.example.lake
        environments: [Sandbox]
        products:
          pro: {type: Non-Consumable, entitlements: [pro]}
    listeners: {http: {allowed_hosts: [one.example.com]}}
    """

  private func configuration(_ yaml: String) throws(ConfigurationError) -> ServiceConfiguration {
    try ServiceConfiguration(yaml: yaml, file: "entitled.yaml")
  }

  /// The settings that wait for a restart after `text` was replaced.
  private func pending(_ text: String, _ replacement: String) throws -> [String] {
    let changed = Self.start.replacing(text, with: replacement)
    #expect(changed != Self.start)
    return try configuration(changed).pendingRestart(since: try configuration(Self.start))
  }

  @Test(
    "A section that a reload does not apply is named",
    arguments: [
      ("limits", "{max_connections: 10}"), ("retention", "{audit: 90}"), ("erasures", "{list: elsewhere}"),
      ("store", "{sqlite: {path: elsewhere}}"), ("traces", "{endpoint: 'http://127.0.0.1:4318/v1/traces'}"),
      ("log", "{format: json}"),
      ("trusted_roots", "[{environment: Sandbox, certificate: root.der}]"),
      ("tokens", "{issuer: 'https://entitled.example.com', keys: keys}"),
    ])
  func sections(name: String, value: String) throws {
    #expect(try pending("apps:\n", "\(name): \(value)\napps:\n") == [name])
  }

  @Test("A listener is named, and the identity of the console only with another header")
  func listeners() throws {
    #expect(try pending("one.example.com", "two.example.com") == ["listeners"])
    func identity(_ header: String, _ issuer: String) throws -> ServiceConfiguration {
      try configuration(
        Self.start.replacing(
          "listeners: {",
          with:
            "listeners: {console: {identity: {header: \(header), issuer: '\(issuer)', audience: a, keys: {file: k}}}, "
        ))
    }
    let start = try identity("one", "https://one.example.com")
    #expect(try identity("one", "https://two.example.com").pendingRestart(since: start) == [])
    #expect(try identity("two", "https://one.example.com").pendingRestart(since: start) == ["listeners"])
  }

  @Test("Settings of an app are named, those of Apple's API only if it had a key")
  func apps() throws {
    let polling = "\n    status_polling: false"
    #expect(try pending("com.example.sea", "com.example.sea\(polling)") == ["apps.sea.status_polling"])
    #expect(try pending("com.example.lake", "com.example.lake\(polling)") == [])
    #expect(
      try pending("com.example.lake", "com.example.lake\n    online_checks: soft")
        == ["apps.lake.online_checks"])
  }

  @Test("What a reload applies is not named")
  func reloaded() throws {
    #expect(try pending("lake", "pond") == [])
    #expect(try pending("entitlements: [pro]", "entitlements: [pro, sync]") == [])
    #expect(try pending("apps:\n", "callers: open\npublic_url: https://entitled.example.com\napps:\n") == [])
  }
}
