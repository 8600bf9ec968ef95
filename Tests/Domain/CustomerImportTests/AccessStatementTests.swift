import AppStore
import CustomerImport
import JSON
import Testing

/// The statements of events and rows together, and the differences of answers from them.
@Suite struct AccessStatementTests {
  static func event(
    _ id: String, _ type: String, at time: Int, until end: Int, purchase: String = "1",
    customer: String = "ann"
  ) throws -> (RevenueCatEvent, JSONValue) {
    let body = """
      {"event": {"id": "\(id)", "type": "\(type)", "event_timestamp_ms": \(time), "expiration_at_ms": \(end),
        "app_user_id": "\(customer)", "entitlement_ids": ["premium"], "store": "APP_STORE",
        "original_transaction_id": "\(purchase)"}}
      """
    return (try RevenueCatEvent(Array(body.utf8)), try JSONValue(parsing: Array(body.utf8)))
  }

  static func statements(_ events: (RevenueCatEvent, JSONValue)...) -> AccessStatements {
    var statements = AccessStatements(entitlementNames: ["premium": "pro"])
    for (event, document) in events { statements.add(event, document) }
    return statements
  }

  @Test("The latest event about a purchase counts, in any order")
  func latest() throws {
    let renewal = try Self.event("e1", "RENEWAL", at: 10, until: 900)
    let expiration = try Self.event("e2", "EXPIRATION", at: 20, until: 500)
    for statements in [Self.statements(renewal, expiration), Self.statements(expiration, renewal)] {
      let access = try #require(statements.access.first)
      #expect(statements.access.count == 1 && access.customerID == "ann" && access.entitlement == "pro")
      #expect(access.deciding?.origin == "EXPIRATION e2")
      #expect(access.deciding?.until == Instant(millisecondsSince1970: 20))
    }
  }

  @Test("A cancellation by a failed payment leaves the grace period of the billing issue as it is")
  func gracePeriod() throws {
    func event(_ id: String, _ members: String) throws -> (RevenueCatEvent, JSONValue) {
      let body = """
        {"event": {"id": "\(id)", \(members), "event_timestamp_ms": 20, "expiration_at_ms": 15, "app_user_id": "ann",
          "entitlement_ids": ["premium"], "store": "APP_STORE", "original_transaction_id": "1"}}
        """
      return (try RevenueCatEvent(Array(body.utf8)), try JSONValue(parsing: Array(body.utf8)))
    }
    let issue = try event("e1", #""type": "BILLING_ISSUE", "grace_period_expiration_at_ms": 900"#)
    let cancelled = try event("e2", #""type": "CANCELLATION", "cancel_reason": "BILLING_ERROR""#)
    let renewal = try Self.event("e0", "RENEWAL", at: 10, until: 15)
    for events in [[renewal, issue, cancelled], [cancelled, issue, renewal]] {
      var statements = AccessStatements(entitlementNames: ["premium": "pro"])
      for (event, document) in events { statements.add(event, document) }
      let deciding = statements.access.first?.deciding
      #expect(deciding?.origin == "BILLING_ISSUE e1" && deciding?.until?.millisecondsSince1970 == 900)
    }
  }

  @Test("An upgrade ends the entitlements that the purchase had, and an end of these ends no other")
  func upgrade() throws {
    func event(_ id: String, _ type: String, at time: Int, _ entitlement: String) throws -> (
      RevenueCatEvent, JSONValue
    ) {
      let body = """
        {"event": {"id": "\(id)", "type": "\(type)", "event_timestamp_ms": \(time), "expiration_at_ms": 900,
          "app_user_id": "ann", "entitlement_ids": ["\(entitlement)"], "store": "APP_STORE",
          "original_transaction_id": "1"}}
        """
      return (try RevenueCatEvent(Array(body.utf8)), try JSONValue(parsing: Array(body.utf8)))
    }
    let bought = try event("e1", "INITIAL_PURCHASE", at: 10, "basic")
    let upgraded = try event("e2", "RENEWAL", at: 20, "premium")
    let ended = try event("e3", "EXPIRATION", at: 30, "basic")
    for events in [[bought, upgraded], [upgraded, bought], [ended, bought, upgraded]] {
      var statements = AccessStatements(entitlementNames: ["premium": "pro"])
      for (event, document) in events { statements.add(event, document) }
      let access = statements.access
      #expect(access.map(\.entitlement) == ["basic", "pro"])
      let ends = access.map { $0.deciding?.until?.millisecondsSince1970 }
      #expect(ends == [events.count == 3 ? 30 : 20, 900])
    }
  }

  @Test(
    "An item of a list that names a renewal is about the purchase of the event with this renewal, in any order"
  )
  func renewalOfList() throws {
    let body = """
      {"event": {"id": "e1", "type": "EXPIRATION", "event_timestamp_ms": 20, "expiration_at_ms": 15, "app_user_id": "ann",
        "entitlement_ids": ["premium"], "store": "APP_STORE", "original_transaction_id": "1", "transaction_id": "7"}}
      """
    let event = (try RevenueCatEvent(Array(body.utf8)), try JSONValue(parsing: Array(body.utf8)))
    var item = ImportRow()
    (item.customerID, item.store, item.purchaseID, item.entitlements) = ("ann", "app_store", "7", ["premium"])
    (item.since, item.until) = (Instant(millisecondsSince1970: 1), Instant(millisecondsSince1970: 900))
    for isEventFirst in [true, false] {
      var statements = AccessStatements(entitlementNames: ["premium": "pro"])
      if isEventFirst { statements.add(event.0, event.1) }
      statements.add(item, knownAt: Instant(millisecondsSince1970: 10))
      if !isEventFirst { statements.add(event.0, event.1) }
      let access = try #require(statements.access.first)
      #expect(access.statements.map(\.origin) == ["EXPIRATION e1"])
    }
  }

  @Test("Of several purchases the one that ends last decides")
  func severalPurchases() throws {
    let statements = Self.statements(
      try Self.event("e1", "RENEWAL", at: 10, until: 900),
      try Self.event("e2", "EXPIRATION", at: 20, until: 500, purchase: "2"),
      try Self.event("e3", "TEST", at: 30, until: 5000))
    #expect(statements.access.first?.deciding?.origin == "RENEWAL e1")
    #expect(statements.access.first?.statements.count == 2 && statements.silentEvents == 1)
  }

  @Test("A transfer moves the purchases of the former customer")
  func transfers() throws {
    let body = """
      {"event": {"id": "t", "type": "TRANSFER", "event_timestamp_ms": 20, "transferred_from": ["ann"],
        "transferred_to": ["$RCAnonymousID:2", "bea"]}}
      """
    let transfer = (try RevenueCatEvent(Array(body.utf8)), try JSONValue(parsing: Array(body.utf8)))
    let before = try Self.event("e1", "RENEWAL", at: 10, until: 900)
    let after = try Self.event("e2", "RENEWAL", at: 30, until: 950, purchase: "2")
    let access = Self.statements(transfer, after, before).access
    #expect(access.map(\.customerID) == ["ann", "bea"])
    #expect(access.map { $0.deciding?.eventID } == ["e2", "e1"])
  }

  @Test("A statement about an anonymous id belongs to the customer with this alias")
  func aliases() throws {
    let body = """
      {"event": {"id": "e2", "type": "EXPIRATION", "event_timestamp_ms": 20, "expiration_at_ms": 15,
        "app_user_id": "ann", "aliases": ["$RCAnonymousID:1"], "entitlement_ids": ["premium"], "store": "APP_STORE",
        "original_transaction_id": "1"}}
      """
    let expiration = (try RevenueCatEvent(Array(body.utf8)), try JSONValue(parsing: Array(body.utf8)))
    let purchase = try Self.event("e1", "RENEWAL", at: 10, until: 900, customer: "$RCAnonymousID:1")
    let access = Self.statements(expiration, purchase).access
    #expect(access.map(\.customerID) == ["ann"] && access.first?.deciding?.eventID == "e2")
  }

  @Test("A row of an export states access until its end or its refund, for the id that is not anonymous")
  func rows() {
    var row = ImportRow()
    (row.customerID, row.aliases) = ("$RCAnonymousID:1", ["bea"])
    (row.store, row.purchaseID, row.entitlements, row.line) = ("app_store", "1", ["pro"], 7)
    row.until = Instant(millisecondsSince1970: 900)
    row.refundedAt = Instant(millisecondsSince1970: 400)
    var statements = AccessStatements(entitlementNames: [:])
    statements.add(row, knownAt: Instant(millisecondsSince1970: 1000))
    #expect(statements.access.first?.customerID == "bea")
    #expect(statements.access.first?.deciding?.until == Instant(millisecondsSince1970: 400))
    #expect(statements.access.first?.deciding?.origin == "line 7")
  }

  @Test(
    "Of an event and the lines of an export about one purchase, what was stated last counts",
    arguments: [(1_000, "CANCELLATION e1"), (3_000, "line 2")] as [(Int64, String)])
  func eventAndRows(changedAt: Int64, deciding: String) throws {
    let body = """
      {"event": {"id": "e1", "type": "CANCELLATION", "cancel_reason": "CUSTOMER_SUPPORT", "event_timestamp_ms": 2000,
        "app_user_id": "ann", "entitlement_ids": ["premium"], "store": "APP_STORE", "expiration_at_ms": 9000,
        "original_transaction_id": "1"}}
      """
    let refund = (try RevenueCatEvent(Array(body.utf8)), try JSONValue(parsing: Array(body.utf8)))
    var statements = Self.statements(refund)
    for (line, since) in [(1, 100), (2, 500)] as [(Int, Int64)] {
      var row = ImportRow()
      (row.customerID, row.store, row.purchaseID, row.entitlements) = ("ann", "app_store", "1", ["premium"])
      (row.line, row.since) = (line, Instant(millisecondsSince1970: since))
      (row.until, row.revision) = (Instant(millisecondsSince1970: since + 8_000), line == 2 ? changedAt : 1)
      statements.add(row, knownAt: Instant(millisecondsSince1970: 1))
    }
    #expect(statements.access.count == 1 && statements.access.first?.deciding?.origin == deciding)
  }

  @Test(
    "Each disagreement has its kind",
    arguments: [
      (900, true, 900, nil), (900, true, 950, nil), (900, true, 1000, AccessDisagreement.otherEnd),
      (nil, true, nil, nil), (nil, true, 900, .otherEnd), (900, false, nil, .theirsOnly),
      (nil, false, 100, .theirsOnly), (100, true, 900, .oursOnly), (100, false, nil, nil),
    ] as [(Int64?, Bool, Int64?, AccessDisagreement?)])
  func disagreements(_ stated: Int64?, _ isEntitled: Bool, _ until: Int64?, _ kind: AccessDisagreement?) {
    let found = AccessDisagreement(
      stated: stated.map(Instant.init(millisecondsSince1970:)), isEntitled: isEntitled,
      until: until.map(Instant.init(millisecondsSince1970:)), paidUntil: nil,
      at: Instant(millisecondsSince1970: 500), tolerance: 60)
    #expect(found == kind)
  }

  @Test(
    "The end of the paid time agrees too, if no more than the slack for a late renewal follows",
    arguments: [
      (950, 3_600_900, nil), (1000, 3_600_900, .otherEnd), (900, 86_400_900, nil),
      (900, 86_400_901, .otherEnd),
    ] as [(Int64, Int64, AccessDisagreement?)])
  func slack(_ stated: Int64, _ until: Int64, _ kind: AccessDisagreement?) {
    let found = AccessDisagreement(
      stated: Instant(millisecondsSince1970: stated), isEntitled: true,
      until: Instant(millisecondsSince1970: until), paidUntil: Instant(millisecondsSince1970: 900),
      at: Instant(millisecondsSince1970: 500), tolerance: 60)
    #expect(found == kind)
  }
}
