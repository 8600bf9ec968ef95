import Configuration
import Testing

/// A check that continues after each error.
@Suite struct ConfigurationProblemsTests {
  private static func problems(_ yaml: String) -> [String] {
    ServiceConfiguration.check(yaml: yaml, file: "x.yaml").problems.map(\.description)
  }

  @Test("A check reports every error of an app, a product, a webhook and a caller, in the order of the lines")
  func all() {
    let problems = Self.problems(
      """
      apps:
        sea:
          environments: [Staging, Production]
          online_checks: sometimes
          in_app_purchase_key: {file: a.p8}
          colour: blue
          status_polling: perhaps
          webhooks:
            crm: {url: ftp://a, secret: {file: a, variable: b}, events: [BEGUN]}
          products:
            pro: {type: Subscription, price: cheap, currency: USD, period: monthly}
            plus: {type: Non-Consumable, colour: red, price: 5}
      callers:
        billing: {roles: [reed, write], tokens: [x], apps: [lake]}
      limits: {header_bytes: 1, max_connections: 0}
      log: {format: xml}
      """)
    let expected = [
      (3, "app sea has no apple_id"), (3, "app sea has no bundle_id"), (3, "unknown environment 'Staging'"),
      (4, "online_checks of app sea is not one of"), (5, "in_app_purchase_key of app sea has no key_id"),
      (5, "in_app_purchase_key of app sea has no issuer_id"),
      (6, "app sea: unknown key 'colour'"),
      (7, "status_polling of app sea is neither true nor false"), (9, "url of webhook crm is not a URL"),
      (9, "secret of webhook crm requires either file or variable"), (9, "unknown event 'BEGUN'"),
      (11, "unknown product type 'Subscription'"), (11, "price of product pro is not a price"),
      (11, "period of product pro is not a duration"), (12, "product plus: unknown key 'colour'"),
      (12, "price of product plus requires a currency"), (14, "unknown role 'reed'"),
      (14, "unknown role 'write'"), (14, "tokens of caller billing is not sha256:"),
      (14, "unknown app 'lake'"),
      (15, "header_bytes of limits of the configuration is not between"),
      (15, "max_connections of limits of the configuration is not between"),
      (16, "format of log of the configuration is not one of"),
    ]
    #expect(problems.count == expected.count, "\(problems)")
    for (line, text) in expected {
      #expect(problems.contains { $0.hasPrefix("x.yaml:\(line): \(text)") }, "\(line): \(text)")
    }
    let lines = problems.compactMap { $0.split(separator: ":").dropFirst().first.flatMap { Int($0) } }
    #expect(lines == lines.sorted())
  }

  @Test(
    "An error has no consequences in what refers to the faulty part",
    arguments: [
      // The entitlements of the product are unknown, so they cannot be missing elsewhere.
      "family_sharing: {pro: allow}", "segments: {gone: {entitlements: [pro]}}",
      "retention_messaging: {rules: [{name: a, product_ids: [x], answers: [{nothing: true}]}]}",
    ])
  func consequences(member: String) {
    let problems = Self.problems(
      """
      apps:
        sea:
          bundle_id: com.example
          environments: [Sandbox]
          \(member)
          products:
            pro: {type: NonConsumable, entitlements: [pro]}
      callers:
        billing: {roles: [read], tokens: [x]}
        support: {roles: [reed], subjects: [support]}
      listeners: {console: {identity: {header: X-Identity}}}
      """)
    let expected = ["unknown product type", "tokens of caller billing", "unknown role"]
    let issuer = ["issuer", "audience", "keys"].map { "has no \($0)" }
    #expect(problems.count == expected.count + issuer.count, "\(problems)")
    for text in expected + issuer { #expect(problems.contains { $0.contains(text) }, "\(text)") }
  }

  @Test("The parts of a configuration without errors are usable after a check")
  func rest() throws {
    let (configuration, problems) = ServiceConfiguration.check(
      yaml: """
        apps:
          sea:
            bundle_id: com.example
            environments: [Sandbox]
            in_app_purchase_key: {file: a.p8, key_id: A, issuer_id: I}
            products: {pro: {type: Nothing}}
          lake: []
        """, file: "/etc/x.yaml")
    #expect(problems.map(\.line) == [6, 7])
    let apps = try #require(configuration).apps
    #expect(apps.map(\.key?.path) == ["/etc/a.p8"])
  }

  @Test("A tab in the indentation is named")
  func tab() {
    #expect(Self.problems("apps:\n\tsea: {}\n").map { $0.hasSuffix("YAML indents with spaces") } == [true])
  }

  @Test("A valid configuration has no problems; one that is no YAML has one and no configuration")
  func bounds() {
    #expect(Self.problems(demoConfiguration).isEmpty)
    let (configuration, problems) = ServiceConfiguration.check(yaml: "apps: [", file: "x.yaml")
    #expect(configuration == nil && problems.count == 1)
  }
}
