import AppStore
import CustomerImport
import JSON
import Testing

/// Lists of RevenueCat's REST API v2.
@Suite struct RevenueCatListsTests {
  static let now = Instant(millisecondsSince1970: 1_800_000_000_000)

  static func plan(_ text: String) throws -> ImportPlan {
    let lists = try RevenueCatLists(Array(text.utf8), now: now)
    var options = ImportPlanner.Options()
    options.identity = .named
    options.defaultRevision = now.millisecondsSince1970
    var planner = ImportPlanner(options, mapping: .revenueCat)
    for omission in lists.omissions { planner.add(omission) }
    for row in lists.rows { planner.add(row) }
    return planner.plan()
  }

  static let subscription = #"""
    {"object": "subscription", "id": "sub1", "customer_id": "ann", "product_id": "prod1", "starts_at": 1700000000000,
     "current_period_starts_at": 1799000000000, "current_period_ends_at": 1801000000000, "gives_access": ACCESS,
     "store": "STORE", "store_subscription_identifier": "ID", "environment": "production",
     "entitlements": {"object": "list", "items": [{"object": "entitlement", "id": "entl1", "lookup_key": "pro"}]}}
    """#

  static func subscription(_ store: String, _ id: String, access: String = "true") -> String {
    subscription.replacing("STORE", with: store).replacing("\"ID\"", with: "\"\(id)\"")
      .replacing("ACCESS", with: access)
  }

  @Test("A customer with nested lists becomes one customer")
  func nested() throws {
    let plan = try Self.plan(
      """
      {"object": "list", "url": "/v2/projects/p/customers", "items": [
        {"object": "customer", "id": "$RCAnonymousID:1",
         "aliases": {"object": "list", "items": [{"object": "customer.alias", "id": "ann"}]},
         "attributes": {"object": "list", "items": [
           {"object": "customer.attribute", "name": "$email", "value": "a@b.c", "updated_at": 1}]},
         "active_entitlements": {"object": "list", "items": [
           {"object": "customer.active_entitlement", "entitlement_id": "entl1", "expires_at": null}]},
         "subscriptions": {"object": "list", "items": [\(Self.subscription("app_store", "2001"))]}}]}
      """)
    let ann = try #require(plan.customers.first)
    #expect(plan.omissions.isEmpty && plan.customers.count == 1)
    #expect(
      ann.id == "ann" && ann.aliases == ["$RCAnonymousID:1"] && ann.transactions.keys.sorted() == ["2001"]
        && ann.purchases.isEmpty)
    #expect(ann.attributes.map(\.name) == ["rc:email"])
  }

  @Test("Lines of the export beside a list keep their rules for ids, in any order")
  func besideExport() throws {
    let lists = try RevenueCatLists(
      Array(
        """
        {"object": "customer", "id": "old", "aliases": {"object": "list", "items": [
          {"object": "customer.alias", "id": "older"}]},
         "subscriptions": {"object": "list", "items": [\(Self.subscription("app_store", "2001"))]}}
        """.utf8), now: Self.now
    ).rows
    let table = SeparatedValues(
      Array(
        """
        rc_original_app_user_id,rc_last_seen_app_user_id_alias,store,original_store_transaction_id
        old,new,app_store,1000
        """.utf8))
    let lines = try ColumnMapping.revenueCat.rows(of: table).rows
    for rows in [lines + lists, lists + lines] {
      var options = ImportPlanner.Options()
      options.identity = .named
      var planner = ImportPlanner(options, mapping: .revenueCat)
      for row in rows { planner.add(row) }
      let plan = planner.plan()
      let customer = try #require(plan.customers.first)
      #expect(customer.id == "new" && Set(customer.aliases) == ["old", "older"])
      #expect(customer.purchases.keys.sorted() == ["1000"])
      #expect(customer.transactions.keys.sorted() == ["2001"])
    }
  }

  @Test("Lists that were fetched one by one name their customer in the URL")
  func separateLists() throws {
    let plan = try Self.plan(
      [
        #"{"object": "list", "url": "/v2/projects/p/customers/ann/aliases", "items": [{"object": "customer.alias", "id": "b"}]}"#,
        Self.subscription("play_store", "GPA.1-2..5").replacing("\n", with: " "),
      ].joined(separator: "\n"))
    let ann = try #require(plan.customers.first)
    #expect(ann.aliases == ["b"])
    let grant = try #require(ann.grants.first)
    #expect(grant.source == "play" && grant.externalID == "GPA.1-2" && grant.entitlement == "pro")
    #expect(grant.revision == Self.now.millisecondsSince1970)
    #expect(grant.until == Instant(millisecondsSince1970: 1_801_000_000_000))
  }

  @Test("A subscription without access ended in its period, and a refunded purchase at its start")
  func withoutAccess() throws {
    let paused = try Self.plan(Self.subscription("stripe", "s", access: "false"))
    #expect(paused.customers.first?.grants.first?.until == Instant(millisecondsSince1970: 1_799_000_000_000))
    let refunded = try Self.plan(
      #"""
      {"object": "purchase", "customer_id": "ann", "store": "stripe", "store_purchase_identifier": "p", "status": "refunded",
       "purchased_at": 5000, "entitlements": {"items": [{"lookup_key": "pro"}]}}
      """#)
    #expect(refunded.customers.first?.grants.first?.refundedAt == Instant(millisecondsSince1970: 5000))
  }

  @Test("A purchase that ended does not explain an active entitlement", arguments: [true, false])
  func endedPurchase(givesAccess: Bool) throws {
    let plan = try Self.plan(
      """
      {"object": "customer", "id": "ann",
       "active_entitlements": {"object": "list", "items": [
         {"object": "customer.active_entitlement", "entitlement_id": "entl1", "expires_at": null}]},
       "subscriptions": {"object": "list", "items": [
         \(Self.subscription("app_store", "2001", access: "\(givesAccess)"))]}}
      """)
    let expected: [ImportOmission.Reason] = givesAccess ? [] : [.entitlementWithoutPurchase]
    #expect(plan.omissions.map(\.reason) == expected)
    #expect(plan.customers.first?.transactions.keys.sorted() == ["2001"])
  }

  @Test("A purchase explains no active entitlement of an id with another Unicode normalization")
  func normalization() throws {
    let plan = try Self.plan(
      [("Jos\u{E9}", Self.subscription("app_store", "2001")), ("Jose\u{301}", "")].map { id, purchases in
        """
        {"object": "customer", "id": "\(id)",
         "active_entitlements": {"object": "list", "items": [
           {"object": "customer.active_entitlement", "entitlement_id": "entl1", "expires_at": null}]},
         "subscriptions": {"object": "list", "items": [\(purchases)]}}
        """
        .replacing("\n", with: " ")
      }
      .joined(separator: "\n"))
    #expect(plan.omissions.map(\.reason) == [.entitlementWithoutPurchase])
  }

  @Test("A grace period gives access until the end of the active entitlement")
  func gracePeriod() throws {
    let ended = Self.subscription("stripe", "s").replacing("1801000000000", with: "1799500000000")
      .replacing("\n", with: " ")
    let active =
      #"""
      {"object": "list", "url": "/v2/projects/p/customers/ann/active_entitlements",
       "items": [{"object": "customer.active_entitlement", "entitlement_id": "entl1", "expires_at": 1800500000000}]}
      """#
      .replacing("\n", with: " ")
    let plan = try Self.plan([ended, active].joined(separator: "\n"))
    #expect(plan.omissions.isEmpty)
    #expect(plan.customers.first?.grants.first?.until == Instant(millisecondsSince1970: 1_800_500_000_000))
    #expect(try Self.plan(ended).omissions.map(\.reason) == [.entitlementWithoutPurchase])
  }

  @Test("Promotional access has RevenueCat's id, and no end if it has none")
  func promotional() throws {
    let plan = try Self.plan(
      Self.subscription("promotional", "x").replacing("\"x\"", with: "null")
        .replacing("1801000000000", with: "null"))
    let grant = try #require(plan.customers.first?.grants.first)
    #expect(grant.source == "promotional" && grant.externalID == "sub1" && grant.until == nil)
    #expect(plan.omissions.isEmpty)
  }

  @Test("A list without its last page is listed, also if its pages are in several files")
  func pages() throws {
    let path = "/v2/projects/p/customers/%24RCAnonymousID%3A1/aliases"
    func page(_ id: String, next: String, url: String) throws -> RevenueCatLists {
      let text = """
        {"object": "list", "items": [{"object": "customer.alias", "id": "\(id)"}], "next_page": \(next), "url": "\(url)"}
        """
      return try RevenueCatLists(Array(text.utf8), now: Self.now)
    }
    let first = try page("a", next: "\"\(path)?starting_after=a\"", url: path)
    let last = try page("b", next: "null", url: "\(path)?starting_after=a")
    #expect(first.rows.first?.customerID == "$RCAnonymousID:1")
    #expect(RevenueCatLists.unfinished([first]).map(\.reason) == [.incompleteList])
    #expect(RevenueCatLists.unfinished([first]).map(\.customerID) == ["$RCAnonymousID:1"])
    #expect(RevenueCatLists.unfinished([last, first]).isEmpty)
  }

  @Test("A list of a customer whose id is not UTF-8 belongs to no customer")
  func malformedCustomer() throws {
    let plan = try Self.plan(
      #"""
      {"object": "list", "url": "/v2/projects/p/customers/J%FCrgen/aliases",
       "items": [{"object": "customer.alias", "id": "b"}]}
      """#)
    #expect(plan.customers.isEmpty && plan.omissions.map(\.customerID) == [""])
  }

  @Test("An active entitlement without a purchase, and items of other types, are listed")
  func omissions() throws {
    let plan = try Self.plan(
      #"""
      [{"object": "list", "url": "/v2/projects/p/customers/ann/active_entitlements",
        "items": [{"object": "customer.active_entitlement", "entitlement_id": "entl9"}]}, {"object": "wallet"}, 7]
      """#)
    #expect(plan.omissions.map(\.reason) == [.unknownItem, .unknownItem, .entitlementWithoutPurchase])
    #expect(throws: ImportError.self) { try RevenueCatLists(Array("{\n{".utf8), now: Self.now) }
  }
}
