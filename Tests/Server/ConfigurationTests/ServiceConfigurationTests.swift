import AppStore
import Configuration
import Entitlements
import Foundation
import Testing

@Suite struct ServiceConfigurationTests {
  @Test("Without a file the demo configuration is used")
  func demo() throws {
    let configuration = try ServiceConfiguration.load(path: nil)
    #expect(configuration.catalog.appIDs == ["ocean-journal"])
    let app = try #require(configuration.catalog["ocean-journal"])
    #expect(app.identity == AppIdentity(bundleID: "com.example.oceanjournal", appAppleID: 1_234_567_890))
    #expect(app.environments == [.sandbox, .production])
    #expect(app.entitlements == ["pro"])
    let products = app.products.values.filter { $0.entitlements == ["pro"] }.map(\.productID).sorted()
    #expect(products == ["lifetime", "pro.monthly", "pro.yearly", "season"])
    #expect(app.products["shells.100"]?.type == .consumable)
    #expect(app.products["season"]?.duration == Period("P90D"))
    #expect(app.products["pro.monthly"]?.subscriptionGroup == "pro")

    let terms = try #require(configuration.apps.first?.terms)
    #expect(terms["pro.yearly"]?.period == Period("P1Y"))
    #expect(terms["pro.yearly"]?.monthlyPrice == 3990)
    #expect(terms["pro.monthly"]?.price == 4990 && terms["pro.monthly"]?.monthlyPrice == nil)
    #expect(terms["shells.100"]?.price == 990)
    #expect(configuration.roots.isEmpty)
  }

  @Test(
    "An invalid file is rejected with line and problem",
    arguments: [
      (
        8, "type: Non-Consumable", "typ: Non-Consumable", "product pro: unknown key 'typ'; known: type, group"
      ),
      (
        8, "type: Non-Consumable", "type: NonConsumable",
        "unknown product type 'NonConsumable'; known: Auto-Renewable Subscription, Non-Consumable"
      ),
      (8, "type: Non-Consumable", "type: Non-Renewing Subscription", "product pro has no duration"),
      (8, "type: Non-Consumable", "type: Auto-Renewable Subscription", "product pro has no group"),
      (9, "[pro]", "[\"\"]", "entitlements of product pro is not a text"),
      (9, "[pro]", "[pro, pro]", "'pro' is listed twice"),
      (9, "[pro]", "pro", "entitlements of product pro is neither a list nor a mapping"),
      (9, "entitlements: [pro]", "duration: 90", "duration of product pro is not a duration such as"),
      (9, "entitlements: [pro]", "period: P1M", "only an Auto-Renewable Subscription has period"),
      (9, "entitlements: [pro]", "price: 4.9999", "price of product pro is not a price"),
      (9, "entitlements: [pro]", "price: 4.99", "price of product pro requires a currency"),
      (
        9, "entitlements: [pro]", "monthly_price: 4.99",
        "only an Auto-Renewable Subscription has monthly_price"
      ),
      (9, "entitlements: [pro]", "currency: dollars", "is not a currency code"),
      (9, "entitlements: [pro]", "level: 1", "only an Auto-Renewable Subscription has level"),
      (3, "bundle_id: com.example", "name: x", "app sea: unknown key 'name'; known: bundle_id"),
      (3, "bundle_id: com.example", "", "app sea has no bundle_id"),
      (4, "apple_id: 7", "apple_id: seven", "apple_id of app sea is not a whole number"),
      (3, "apple_id: 7", "", "app sea has no apple_id, which Production requires"),
      (4, "apple_id: 7", "apple_id: 0", "apple_id of app sea is not between 1 and 999999999999"),
      (5, "[Production]", "[]", "environments of app sea is empty"),
      (5, "[Production]", "[Staging]", "unknown environment 'Staging'; known: Production, Sandbox"),
      (5, "[Production]", "[Sandbox, Sandbox]", "'Sandbox' is listed twice"),
      (7, "pro:", "pro: {}\n      pro:", "duplicate keys: pro"),
      (
        1, "apps:", "app:",
        "the configuration: unknown key 'app'; known: apps, backup, callers, erasures, limits, listeners, log, "
          + "public_url, retention, store, token_issuer, tokens, traces, trusted_roots"
      ),
    ])
  func wrong(line: Int, old: String, new: String, problem: String) {
    let yaml = Self.minimal.replacingOccurrences(of: old, with: new)
    #expect {
      try ServiceConfiguration(yaml: yaml, file: "x.yaml")
    } throws: { error in
      guard case .invalid("x.yaml", let found, let text) = error as? ConfigurationError else { return false }
      #expect(text.contains(problem))
      #expect(abs((found ?? 0) - line) <= 1, "line \(found ?? 0) of \(text)")
      return true
    }
  }

  // App Store Connect offers the monthly plan for products of one year, for one to one and a half times their price.
  @Test(
    "A monthly price needs a period of one year and a total near the price",
    arguments: [
      ("period: P1Y, price: 12, monthly_price: 1", nil), ("period: P1Y, price: 12, monthly_price: 1.5", nil),
      ("period: P1Y, price: 12, monthly_price: 1.501", "must cost 1 to 1.5 times the price"),
      ("period: P1Y, price: 12, monthly_price: 0.999", "must cost 1 to 1.5 times the price"),
      ("period: P1M, price: 12, monthly_price: 1", "requires a period of one year"),
      ("period: P1Y, monthly_price: 1", "requires a price"),
    ] as [(String, String?)])
  func monthlyPrice(terms: String, problem: String?) throws {
    let product = "type: Auto-Renewable Subscription, group: pro, currency: USD, \(terms)"
    let yaml = "apps: {sea: {bundle_id: b, environments: [Sandbox], products: {pro: {\(product)}}}}"
    guard let problem else {
      #expect(
        try ServiceConfiguration(yaml: yaml, file: "x.yaml").apps.first?.terms["pro"]?.monthlyPrice != nil)
      return
    }
    #expect {
      try ServiceConfiguration(yaml: yaml, file: "x.yaml")
    } throws: { "\($0)".contains(problem) }
  }

  @Test("A subscription's promotional offers and price are read for advice")
  func offers() throws {
    let subscription = "Auto-Renewable Subscription\n        group: pro\n        period: P1M"
    let yaml = Self.minimal.replacingOccurrences(
      of: "Non-Consumable", with: subscription + "\n        offers: [stay50, back3]")
    let product = try ServiceConfiguration(yaml: yaml, file: "x.yaml").apps[0].definition.products["pro"]
    #expect(product?.offers == ["stay50", "back3"])
    for (wrong, problem) in [
      (subscription + "\n        offers: [a, a]", "'a' is empty or listed twice"),
      ("Non-Consumable\n        offers: [a]", "only an Auto-Renewable Subscription has offers"),
    ] {
      let yaml = Self.minimal.replacingOccurrences(of: "Non-Consumable", with: wrong)
      #expect {
        try ServiceConfiguration(yaml: yaml, file: "x.yaml")
      } throws: { "\($0)".contains(problem) }
    }
  }

  @Test(
    "The name of an app leads to no other app's audience or folder",
    arguments: [
      ("lake/device", "is not 1 to 64 letters, digits, '-', '_' and '.'"), ("..", "'..' starts with a dot"),
      ("'a b'", "'a b' is not"), ("\"a\\0\"", "is not 1 to 64"), ("a\u{301}", "is not 1 to 64"),
    ])
  func appName(name: String, problem: String) {
    let yaml = "apps: {\(name): {bundle_id: b, environments: [Sandbox], products: {}}}"
    #expect {
      try ServiceConfiguration(yaml: yaml, file: "x.yaml")
    } throws: { "\($0)".contains(problem) }
  }

  @Test("A consumable with entitlements is rejected")
  func consumable() {
    let yaml = Self.minimal.replacingOccurrences(of: "Non-Consumable", with: "Consumable")
    #expect(
      throws: ConfigurationError.invalid(
        file: "x.yaml", line: 9,
        problem: "entitlements of product pro: a Consumable grants no entitlement")
    ) { try ServiceConfiguration(yaml: yaml, file: "x.yaml") }
  }

  @Test("Invalid YAML is rejected with its line", arguments: ["apps: [", "a: b: c", "\tx", ""])
  func notYAML(text: String) {
    #expect(throws: ConfigurationError.self) { try ServiceConfiguration(yaml: text, file: "x.yaml") }
  }

  @Test("Paths of trusted roots are relative to the file")
  func roots() throws {
    let yaml =
      Self.minimal + "trusted_roots:\n  - {environment: Sandbox, certificate: root.pem}\n"
      + "  - {environment: Production, certificate: /etc/root.der}\n"
    let configuration = try ServiceConfiguration(yaml: yaml, file: "/etc/entitled/x.yaml")
    #expect(configuration.roots.map(\.path) == ["/etc/entitled/root.pem", "/etc/root.der"])
    #expect(configuration.roots.map(\.environment) == [.sandbox, .production])
  }

  @Test("Keys, tokens and online checks are off by default; paths are relative to the file")
  func signing() throws {
    let plain = try ServiceConfiguration(yaml: Self.minimal, file: "/etc/entitled/x.yaml")
    #expect(plain.tokens == nil)
    #expect(plain.apps[0].key == nil)
    #expect(plain.apps[0].checksOfferEligibility)
    #expect(plain.apps[0].onlineChecks == .off)

    let app = """
      apple_id: 7
          in_app_purchase_key: {file: keys/a.p8, key_id: ABCDE12345, issuer_id: 57246542}
          check_offer_eligibility: false
          online_checks: hard
      """
    let yaml =
      Self.minimal.replacingOccurrences(of: "apple_id: 7", with: app)
      + "tokens: {issuer: 'https://entitled.example.com', keys: /var/keys, lifetime_seconds: 60}\n"
    let full = try ServiceConfiguration(yaml: yaml, file: "/etc/entitled/x.yaml")
    #expect(full.apps[0].key?.path == "/etc/entitled/keys/a.p8")
    #expect(full.apps[0].key?.keyID == "ABCDE12345")
    #expect(full.apps[0].key?.issuerID == "57246542")
    #expect(!full.apps[0].checksOfferEligibility)
    #expect(full.apps[0].onlineChecks == .hard)
    #expect(full.tokens?.issuer == "https://entitled.example.com")
    #expect(full.tokens?.keyDirectory == "/var/keys")
    #expect(full.tokens?.lifetimeSeconds == 60)
  }

  @Test("Receipts are verified locally by default, not retained and not looked up")
  func receipts() throws {
    let plain = try ServiceConfiguration(yaml: Self.minimal, file: "x.yaml")
    #expect(plain.apps[0].receipts == ReceiptConfiguration())
    let more = """
      apple_id: 7
          receipts: {verify: both, retain: true, look_up_unverified: true, endpoints: {Sandbox: 'http://a'}}
      """
    let full = try ServiceConfiguration(
      yaml: Self.minimal.replacingOccurrences(of: "apple_id: 7", with: more), file: "x.yaml")
    #expect(full.apps[0].receipts.verification == .both)
    #expect(full.apps[0].receipts.retainsReceipts && full.apps[0].receipts.looksUpUnverified)
    #expect(full.apps[0].receipts.endpoints == [.sandbox: "http://a"])
  }

  @Test(
    "An invalid key, token or policy is rejected with its problem",
    arguments: [
      ("receipts: {verify: never}", "verify of receipts of app sea is not one of local, endpoint, both"),
      ("online_checks: sometimes", "online_checks of app sea is not one of off, soft, hard"),
      ("check_offer_eligibility: perhaps", "check_offer_eligibility of app sea is neither true nor false"),
      ("ownership_policy: steal", "ownership_policy of app sea is not one of keep, transfer, share"),
      (
        "device_sync: {over_limit: ignore}",
        "over_limit of device_sync of app sea is not one of refuse, report"
      ),
      (
        "device_sync: {max_installations: 0}",
        "max_installations of device_sync of app sea is not between 1 and 1000"
      ),
      ("in_app_purchase_key: {file: a.p8}", "in_app_purchase_key of app sea has no key_id"),
    ])
  func wrongSigning(line: String, problem: String) {
    let yaml = Self.minimal.replacingOccurrences(of: "apple_id: 7", with: "apple_id: 7\n    \(line)")
    #expect {
      try ServiceConfiguration(yaml: yaml, file: "x.yaml")
    } throws: { "\($0)".contains(problem) }
    let tokens = "tokens: {issuer: x, keys: y, lifetime_seconds: 86401}\n"
    #expect(throws: ConfigurationError.self) {
      try ServiceConfiguration(yaml: Self.minimal + tokens, file: "x.yaml")
    }
  }

  @Test(
    "A file that cannot be read is reported with the reason of the operating system",
    arguments: [("/nowhere/x.yaml", "No such file or directory"), ("/", "Is a directory")])
  func unreadableFile(path: String, reason: String) {
    #expect(throws: ConfigurationError.unreadable(file: path, reason: reason)) {
      try ServiceConfiguration.load(path: path)
    }
    #expect(
      ServiceConfiguration.check(inFile: path).problems.map(\.description)
        == ["cannot read '\(path)': \(reason)"])
  }

  private static let minimal = """
    apps:
      sea:
        bundle_id: com.example
        apple_id: 7
        environments: [Production]
        products:
          pro:
            type: Non-Consumable
            entitlements: [pro]

    """
}
