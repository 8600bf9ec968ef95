import AppStore
import Configuration
import Entitlements
import Testing

@Suite struct CatalogRulesTests {
  @Test("A list grants full access, a mapping grants the given access levels")
  func accessLevels() throws {
    let app = try catalog()
    #expect(app.products["pro"]?.accessLevels == ["pro": .full, "export": .limited])
    #expect(app.products["basic"]?.accessLevels == ["pro": .full])
    #expect(app.entitlements == ["archive", "export", "pro"])
  }

  @Test("The operator grace of the app is the default of its subscriptions")
  func operatorGrace() throws {
    let app = try catalog()
    #expect(app.products["pro"]?.operatorGrace == OperatorGrace(days: 3, access: .limited))
    #expect(app.products["basic"]?.operatorGrace == nil)
    #expect(app.products["lifetime"]?.operatorGrace == nil)
  }

  @Test("Versions are compared numerically by bought_before_version")
  func boughtBefore() throws {
    let app = try catalog()
    for (version, owns) in [("2.9", true), ("2.10.1", true), ("3", false), ("3.0.1", false), ("10", false)] {
      let copy = AppTransactionFact(originalApplicationVersion: version, signedDate: instant)
      let status = evaluate(
        CustomerFacts(appTransactions: [copy]), entitlement: "archive", in: app, at: instant)
      #expect(status.isEntitled == owns, "\(version)")
    }
  }

  @Test("bought_before_version can name the platform")
  func boughtBeforeOnPlatform() throws {
    let mac = #"{version: "3.0", platform: macOS, entitlements: [archive]}"#
    let yaml = Self.yaml.replacing(
      #"{version: "3.0", entitlements: [archive]}"#,
      with: #"[{version: "120", entitlements: [archive]}, \#(mac)]"#)
    let app = try #require(try ServiceConfiguration(yaml: yaml, file: "x.yaml").catalog["sea"])
    for (platform, owns) in [(PurchasePlatform?.some(.macOS), false), (.iOS, true), (nil, true)] {
      let install = AppTransactionFact(
        originalApplicationVersion: "99", originalPlatform: platform, signedDate: instant)
      let status = evaluate(
        CustomerFacts(appTransactions: [install]), entitlement: "archive", in: app, at: instant)
      #expect(status.isEntitled == owns)
    }
  }

  @Test("family_sharing limits or denies the access of family members")
  func familySharing() throws {
    let app = try catalog()
    let shared = TransactionFact(
      transactionID: "1", originalTransactionID: "1", productID: "lifetime", type: .nonConsumable,
      purchaseDate: instant, ownership: .familyShared, signedDate: instant)
    let facts = CustomerFacts(transactions: [shared])
    #expect(evaluate(facts, entitlement: "pro", in: app, at: instant).accessLevel == .limited)
    #expect(evaluate(facts, entitlement: "export", in: app, at: instant).reason == .familySharingNotAllowed)
  }

  @Test("ownership_policy is keep by default")
  func ownershipPolicy() throws {
    #expect(try catalog().ownershipPolicy == .share)
    let silent = Self.yaml.replacing("    ownership_policy: share\n", with: "")
    #expect(try ServiceConfiguration(yaml: silent, file: "x.yaml").catalog["sea"]?.ownershipPolicy == .keep)
  }

  @Test(
    "An invalid rule is rejected with line and problem",
    arguments: [
      (6, "days: 3", "days: 90", "days of operator_grace of app sea is not between 0 and 60"),
      (
        6, "access: limited", "access: some",
        "access of operator_grace of app sea is neither full nor limited"
      ),
      (
        6, "access: limited", "level: limited",
        "operator_grace of app sea: unknown key 'level'; known: days, access"
      ),
      (7, "version: \"3.0\"", "version: three", "is not a version such as 3.0"),
      (
        7, "version: \"3.0\"", "version: \"3.0\", platform: Windows",
        "platform of bought_before_version of app sea is not one of iOS, macOS, tvOS, visionOS"
      ),
      (
        7, "entitlements: [archive]", "gives: [archive]",
        "bought_before_version of app sea: unknown key 'gives'"
      ),
      (
        8, "pro: limited", "gold: limited",
        "no product grants the entitlement 'gold'; known: archive, export, pro"
      ),
      (
        8, "export: deny", "export: never", "export in family_sharing of app sea is not one of allow, limited"
      ),
      (
        13, "export: limited", "export: none",
        "export in entitlements of product pro is neither full nor limited"
      ),
      (
        22, "entitlements: [pro, export]", "operator_grace: {days: 1}",
        "only an Auto-Renewable Subscription has operator_grace"
      ),
      (
        23, "policy: share", "policy: split",
        "ownership_policy of app sea is not one of keep, transfer, share"
      ),
    ])
  func wrong(line: Int, old: String, new: String, problem: String) {
    #expect {
      try ServiceConfiguration(yaml: Self.yaml.replacing(old, with: new), file: "x.yaml")
    } throws: { error in
      guard case .invalid("x.yaml", let found, let text) = error as? ConfigurationError else { return false }
      #expect(text.contains(problem), "\(text)")
      return found == line
    }
  }

  private let instant = Instant(millisecondsSince1970: 1_800_000_000_000)

  private func catalog() throws -> AppDefinition {
    try #require(try ServiceConfiguration(yaml: Self.yaml, file: "x.yaml").catalog["sea"])
  }

  private static let yaml = """
    apps:
      sea:
        bundle_id: com.example
        apple_id: 7
        environments: [Production]
        operator_grace: {days: 3, access: limited}
        bought_before_version: {version: "3.0", entitlements: [archive]}
        family_sharing: {pro: limited, export: deny}
        products:
          pro:
            type: Auto-Renewable Subscription
            group: main
            entitlements: {pro: full, export: limited}
          basic:
            type: Auto-Renewable Subscription
            group: main
            level: 2
            entitlements: [pro]
            operator_grace: {days: 0}
          lifetime:
            type: Non-Consumable
            entitlements: [pro, export]
        ownership_policy: share

    """
}
