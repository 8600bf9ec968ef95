import AppStore
import Bytes
import CustomerImport
import JSON
import TestSupport
import Testing

/// The export of transactions, with two renewals, an alias, other stores and lines that are left out.
@Suite struct ImportPlannerTests {
  static let header =
    "rc_original_app_user_id;rc_last_seen_app_user_id_alias;product_identifier;start_time;end_time;store;is_sandbox;"
    + "original_store_transaction_id;refunded_at;entitlement_identifiers;updated_at;custom_subscriber_attributes"

  static func plan(_ lines: String..., options: (inout ImportPlanner.Options) -> Void = { _ in }) throws
    -> ImportPlan
  {
    var choices = ImportPlanner.Options()
    choices.identity = .named
    choices.takesSandbox = false
    choices.knownEntitlements = ["pro"]
    options(&choices)
    let table = SeparatedValues(Array(([header] + lines).joined(separator: "\n").utf8))
    let rows = try ColumnMapping.revenueCat.rows(of: table)
    var planner = ImportPlanner(choices, mapping: .revenueCat)
    for omission in rows.unreadable { planner.add(omission) }
    for row in rows.rows { planner.add(row) }
    return planner.plan()
  }

  @Test("An anonymous id becomes an alias of the id that the app used last")
  func identity() throws {
    let plan = try Self.plan(
      "$RCAnonymousID:1;ann;p;2026-01-01 00:00:00;2026-02-01 00:00:00;app_store;false;2000;;;;",
      "$RCAnonymousID:1;ann;p;2026-02-01 00:00:00;2026-03-01 00:00:00;app_store;false;2000;;;;")
    let ann = try #require(plan.customers.first)
    #expect(plan.customers.count == 1 && plan.omissions.isEmpty && plan.rowCount == 2)
    #expect(ann.id == "ann" && ann.aliases == ["$RCAnonymousID:1"] && ann.purchases.keys.sorted() == ["2000"])
  }

  @Test("Without a column of the original transaction id, each id is that of any transaction")
  func transactionColumn() throws {
    let table = SeparatedValues(
      Array("rc_original_app_user_id,store,store_transaction_id\nann,app_store,2001\n".utf8))
    var planner = ImportPlanner(.init(), mapping: .revenueCat)
    for row in try ColumnMapping.revenueCat.rows(of: table).rows { planner.add(row) }
    let ann = try #require(planner.plan().customers.first)
    #expect(ann.transactions.keys.sorted() == ["2001"] && ann.purchases.isEmpty)
  }

  @Test("A customer with an id that was merged before stays the same, whatever id the app used last")
  func keptIdentity() throws {
    let ids = { (targets: [OpaqueID: String]) in
      var plan = try Self.plan(
        "$RCAnonymousID:1;bob;p;;;app_store;false;1;;;;", "$RCAnonymousID:2;cleo;p;;;app_store;false;2;;;;")
      plan.keepCustomers(mergedInto: targets)
      return plan.customers.map { [$0.id] + $0.aliases }
    }
    let cleo = ["cleo", "$RCAnonymousID:2"]
    let bob = ["bob", "$RCAnonymousID:1"]
    #expect(try ids([:]) == [bob, cleo])
    #expect(try ids([OpaqueID("$RCAnonymousID:1"): "ann"]) == [["ann"] + bob, cleo])
    #expect(try ids([OpaqueID("$RCAnonymousID:1"): "bob"]) == [bob, cleo])
    // Another customer of the export, and an id that the app does not have.
    #expect(try ids([OpaqueID("$RCAnonymousID:1"): "cleo"]) == [bob, cleo])
    #expect(try ids([OpaqueID("$RCAnonymousID:1"): "$RCAnonymousID:3"]) == [bob, cleo])
  }

  @Test("Customers whose ids only look the same are other customers, as the service compares them")
  func equivalentIDs() throws {
    let (composed, combining) = ("jos\u{E9}", "jose\u{301}")
    let plan = try Self.plan(
      "\(composed);;p;;;app_store;false;1;;;;", "\(combining);;p;;;app_store;false;2;;;;",
      "ann;\(composed)2;p;;;app_store;false;3;;;;", "ben;\(combining)2;p;;;app_store;false;4;;;;")
    let found = plan.customers.map { [Array($0.id.utf8).count] + $0.purchases.keys.compactMap { Int($0) } }
    #expect(Set(found).isSuperset(of: [[5, 1], [6, 2]]) && plan.customers.count == 4)
    #expect(plan.omissions.isEmpty)
  }

  @Test("A customer without another id keeps the anonymous one")
  func anonymous() throws {
    let plan = try Self.plan("$RCAnonymousID:1;$RCAnonymousID:2;p;;;app_store;false;2000;;;;")
    #expect(plan.customers.map(\.id) == ["$RCAnonymousID:1"])
    #expect(plan.customers.first?.aliases == ["$RCAnonymousID:2"])
  }

  @Test("Renewals in another store are one grant with the state of the last period")
  func renewals() throws {
    let plan = try Self.plan(
      #"dora;dora;gold;2026-02-01 00:00:00;2026-03-01 00:00:00;play_store;f;GPA.1;;["pro"];2026-02-02 00:00:00;"#,
      #"dora;dora;gold;2026-01-01 00:00:00;2026-02-01 00:00:00;play_store;f;GPA.1;2026-02-05 00:00:00;["pro"];2026-02-05 00:00:00;"#
    )
    let grant = try #require(plan.customers.first?.grants.first)
    #expect(plan.customers.first?.grants.count == 1)
    #expect(grant.source == "play" && grant.externalID == "GPA.1" && grant.productID == "gold")
    #expect(grant.since == Instant(rfc3339: "2026-01-01T00:00:00Z"))
    #expect(grant.until == Instant(rfc3339: "2026-03-01T00:00:00Z") && grant.refundedAt == nil)
    #expect(grant.revision == Instant(rfc3339: "2026-02-05T00:00:00Z")?.millisecondsSince1970)
  }

  @Test("A purchase of several entitlements is one grant for each, with its own id")
  func severalEntitlements() throws {
    let plan = try Self.plan(
      #"a;a;p;2026-01-01 00:00:00;;promotional;f;rc_1;;"[""pro"",""plus""]";;"#,
      options: { $0.knownEntitlements = nil })
    #expect(plan.customers.first?.grants.map(\.externalID) == ["rc_1#pro", "rc_1#plus"])
    #expect(plan.customers.first?.grants.map(\.source) == ["promotional", "promotional"])
  }

  @Test(
    "A line that is left out has its reason",
    arguments: [
      (";;p;;;app_store;f;1;;;;", ImportOmission.Reason.noCustomer),
      ("a;a;p;;;app_store;true;1;;;;", .otherEnvironment),
      ("a;a;p;;;app_store;f;x1;;;;", .noPurchaseID), ("a;a;p;;;app_store;f;;;;;", .noPurchaseID),
      (#"a;a;p;;;play_store;f;;;["pro"];;"#, .noPurchaseID), ("a;a;p;;;stripe;f;s1;;;;", .noEntitlement),
      (#"a;a;p;;;stripe;f;s1;;["gold"];;"#, .unknownEntitlement),
      (#"a;a;p;;;My Store;f;s1;;["pro"];;"#, .invalidStore),
      (#"a;a;p;;;operator;f;s1;;["pro"];;"#, .invalidStore),
      ("a;a;p;yesterday;;app_store;f;1;;;;", .malformedLine), ("a;a;p", .malformedLine),
      ("a;a;p;;;app_store;f;1;;;;{", .invalidAttribute),
    ])
  func omissions(_ line: String, _ reason: ImportOmission.Reason) throws {
    let plan = try Self.plan(line)
    #expect(plan.omissions.map(\.reason) == [reason])
    #expect(plan.omissions.first?.line == 2 && plan.rowCount == 1)
  }

  @Test("The latest value of an attribute counts, reserved names get a prefix, and others are listed")
  func attributes() throws {
    let json = { (text: String) in "\"" + text.replacing("\"", with: "\"\"") + "\"" }
    let line = "a;a;p;;;app_store;f;1;;;;"
    let plan = try Self.plan(
      line + json(#"{"plan":{"value":"new","updated_at_ms":9},"$email":{"value":"a@b.c"}}"#),
      line + json(#"{"plan":{"value":"old","updated_at_ms":3},"gone":{"value":null}}"#),
      line + json(#"{"my plan":{"value":"x"}}"#))
    #expect(plan.customers.first?.attributes.map(\.name) == ["plan", "rc:email"])
    #expect(plan.customers.first?.attributes.map(\.value) == ["new", "a@b.c"])
    #expect(plan.omissions.map(\.reason) == [.invalidAttribute])
  }

  @Test("Two ids of one customer have one value of each attribute, the later one")
  func attributesOfTwoIDs() throws {
    func line(_ original: String, _ value: String, _ time: Int) -> String {
      let json = "{\"plan\":{\"value\":\"\(value)\",\"updated_at_ms\":\(time)}}"
      return "\(original);ann;p;;;app_store;f;1;;;;\"\(json.replacing("\"", with: "\"\""))\""
    }
    let plan = try Self.plan(line("a", "new", 9), line("b", "old", 3))
    #expect(plan.customers.map(\.id) == ["ann"] && plan.customers.first?.aliases == ["a", "b"])
    #expect(plan.customers.first?.attributes.map(\.value) == ["new"])
  }

  @Test("Attributes that cannot be read do not keep a purchase out")
  func unreadableAttributes() throws {
    let line = "a;a;p;;;app_store;f;1;;;;{"
    #expect(try Self.plan(line).customers.first?.purchases.keys.sorted() == ["1"])
    #expect(try Self.plan(line) { $0.includesAttributes = false }.omissions.isEmpty)
  }

  @Test("An alias that is the id of another customer is not merged")
  func conflictingAlias() throws {
    let plan = try Self.plan(
      "a;b;p;;;app_store;f;1;;;;", "c;c;p;;;app_store;f;2;;;;", "d;a;p;;;app_store;f;3;;;;")
    #expect(plan.customers.map(\.id) == ["a", "b", "c"])
    #expect(plan.customers.map(\.aliases) == [["d"], [], []])
    #expect(plan.omissions.map(\.reason) == [.aliasOfAnotherCustomer])
  }

  /// The purchases of each customer of a plan.
  private static func purchases(_ plan: ImportPlan) -> [String: [String]] {
    plan.customers.reduce(into: [:]) { $0[$1.id] = $1.purchases.keys.sorted() }
  }

  @Test("An App Store purchase that moved belongs to the customer of its latest row, in any order")
  func movedPurchase() throws {
    let old = "zoe;zoe;p;;;app_store;f;2000;;;2026-11-01 00:00:00;"
    let new = "ann;ann;p;;;app_store;f;2000;;;2026-11-20 00:00:00;"
    let other = "zoe;zoe;p;;;app_store;f;3000;;;2026-11-21 00:00:00;"
    for lines in [[old, new, other], [other, new, old]] {
      var plan = try Self.plan(lines[0], lines[1], lines[2])
      plan.settleOwners()
      #expect(Self.purchases(plan) == ["ann": ["2000"], "zoe": ["3000"]])
      #expect(plan.omissions.map(\.reason) == [.purchaseOfAnotherCustomer])
      #expect(plan.omissions.first?.customerID == "zoe" && plan.omissions.first?.reason.isExpected == true)
    }
    // Of rows of one time the last one counts.
    for customer in ["ann", "zoe"] {
      let first = customer == "ann" ? "zoe" : "ann"
      var plan = try Self.plan("\(first);;p;;;app_store;f;2;;;5;", "\(customer);;p;;;app_store;f;2;;;5;")
      plan.settleOwners()
      #expect(Self.purchases(plan) == [customer: ["2"], first: []])
    }
  }

  @Test("An App Store purchase of two ids of one customer is listed for neither")
  func purchaseOfTwoIDs() throws {
    var plan = try Self.plan(
      "a;ann;p;;;app_store;f;2000;;;2026-11-01 00:00:00;", "b;ann;p;;;app_store;f;2000;;;2026-11-20 00:00:00;"
    )
    plan.settleOwners()
    #expect(Self.purchases(plan) == ["ann": ["2000"]] && plan.omissions.isEmpty)
  }

  @Test(
    "The time of a plan grows linearly",
    arguments: [
      // Attributes that are not allowed, and a customer with many rows, aliases and purchases.
      { "u\($0);;p;;;app_store;f;\($0);;;;{\"a b\":\"c\"}" },
      { "u;a\($0);p;;;app_store;f;\($0);;;;{\"a b\":\"\(String(repeating: "c", count: $0 % 500))\"}" },
      // One customer by many ids.
      { "u\($0);ann;p;;;app_store;f;\($0);;;;" },
    ] as [@Sendable (Int) -> String])
  func growth(line: @Sendable (Int) -> String) throws {
    let rows = { (count: Int) in
      let text = ([Self.header] + (0..<count).map(line)).joined(separator: "\n")
      return try ColumnMapping.revenueCat.rows(of: SeparatedValues(Array(text.utf8))).rows
    }
    var options = ImportPlanner.Options()
    options.identity = .named
    let growth = try Growth.ofEightfold(1000, prepare: rows) { rows in
      var planner = ImportPlanner(options, mapping: .revenueCat)
      for row in rows { planner.add(row) }
      var plan = planner.plan()
      plan.settleOwners()
    }
    #expect(growth < Growth.bound)
  }

  @Test("A table without the column of customers is refused")
  func noColumn() {
    #expect(throws: ImportError.noColumn("rc_original_app_user_id", found: ["a", "b"])) {
      try ColumnMapping.revenueCat.rows(of: SeparatedValues(Array("a,b\n1,2".utf8)))
    }
    #expect(ImportError.noColumn("user", found: []).description.hasPrefix("the file is empty"))
    let long = ImportError.noColumn("user", found: [String(repeating: "a", count: 1_000_000)]).description
    #expect(long.count < 600 && long.hasSuffix("…"))
  }
}
