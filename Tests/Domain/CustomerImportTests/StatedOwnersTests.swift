import AppStore
import CustomerImport
import JSON
import Testing

/// The customers of statements, in each order of arrival.
@Suite struct StatedOwnersTests {
  private struct Event {
    let id: String
    var type = "RENEWAL"
    var at = 10
    var until = 900
    var customer: String?
    var aliases: [String] = []
    var entitlement = "pro"
    var store = "APP_STORE"
    var purchase = "1"
    var transfer: (from: String, to: String)?

    func parsed() throws -> (RevenueCatEvent, JSONValue) {
      var event: JSONObject = [
        "id": .string(id), "type": .string(type), "event_timestamp_ms": JSONValue(Int64(at)),
        "aliases": .array(aliases.map { .string($0) }), "store": .string(store),
      ]
      if let customer {
        event["app_user_id"] = .string(customer)
        event["entitlement_ids"] = .array([.string(entitlement)])
        event["expiration_at_ms"] = JSONValue(Int64(until))
        event["original_transaction_id"] = .string(purchase)
      }
      if let transfer {
        event["transferred_from"] = .array([.string(transfer.from)])
        event["transferred_to"] = .array([.string(transfer.to)])
      }
      let document = JSONValue.object(["event": .object(event)])
      return (try RevenueCatEvent(Array(document.text.utf8)), document)
    }
  }

  /// Who has access by which event, which must be the same in each order of the events.
  private static func access(_ events: Event...) throws -> Set<String> {
    let parsed = try events.map { try $0.parsed() }
    var results: [Set<String>] = []
    for order in permutations(Array(parsed.indices)) {
      var statements = AccessStatements(entitlementNames: [:])
      for index in order { statements.add(parsed[index].0, parsed[index].1) }
      results.append(
        Set(
          statements.access.flatMap { access in
            access.statements.map { "\(access.customerID) \(access.entitlement) \($0.eventID)" }
          }))
    }
    let first = try #require(results.first)
    #expect(results.allSatisfy { $0 == first })
    return first
  }

  @Test("Customers whose ids only look the same are other customers, as the service compares them")
  func equivalentIDs() throws {
    let (composed, combining) = ("jos\u{E9}", "jose\u{301}")
    var statements = AccessStatements(entitlementNames: [:])
    for event in [
      Event(id: "e1", customer: composed), Event(id: "e2", customer: combining, purchase: "2"),
      Event(id: "e3", type: "TRANSFER", at: 20, transfer: (combining, "ann")),
    ] {
      let (parsed, document) = try event.parsed()
      statements.add(parsed, document)
    }
    let found = statements.access.map { access in
      [access.customerID.utf8.count] + access.statements.compactMap { Int($0.purchase.suffix(1)) }
    }
    #expect(Set(found) == [[5, 1], [3, 2]])
  }

  private static func permutations(_ items: [Int]) -> [[Int]] {
    guard items.count > 1 else { return [items] }
    return items.flatMap { first in
      permutations(items.filter { $0 != first }).map { [first] + $0 }
    }
  }

  @Test("All statements about the ids of a customer belong to the id of the latest event")
  func aliases() throws {
    let found = try Self.access(
      Event(id: "e1", at: 10, customer: "old", purchase: "1"),
      Event(id: "e2", at: 20, customer: "old", purchase: "2"),
      Event(id: "e3", at: 30, customer: "bob", aliases: ["old", "bob"], purchase: "1"),
      Event(id: "e4", type: "TEST", at: 40, customer: "rob", aliases: ["bob", "rob"]))
    #expect(found == ["rob pro e3", "rob pro e2"])
  }

  @Test("An id that RevenueCat made up belongs to the named customer, also of an event of the same time")
  func anonymous() throws {
    let found = try Self.access(
      Event(id: "e2", customer: "$RCAnonymousID:1"),
      Event(id: "e1", customer: "ann", aliases: ["ann", "$RCAnonymousID:1"], purchase: "2"))
    #expect(found == ["ann pro e2", "ann pro e1"])
  }

  @Test("A purchase belongs to the customer of the latest statement about it, with all its entitlements")
  func purchase() throws {
    let found = try Self.access(
      Event(id: "e1", at: 10, customer: "ann", entitlement: "basic"),
      Event(id: "e2", type: "EXPIRATION", at: 15, customer: "ann", entitlement: "extra"),
      Event(id: "e3", at: 20, customer: "bea"), Event(id: "e4", at: 20, customer: "ann", purchase: "2"))
    #expect(found == ["bea pro e3", "bea basic e3", "bea extra e2", "ann pro e4"])
  }

  @Test("Events without a purchase, and granted access, belong to the customers that they name")
  func noPurchase() throws {
    let found = try Self.access(
      Event(id: "e1", at: 10, customer: "ann", purchase: ""),
      Event(id: "e2", at: 20, customer: "bea", purchase: ""),
      Event(id: "e3", at: 30, customer: "ann", entitlement: "plus", store: "PROMOTIONAL"),
      Event(id: "e4", at: 40, customer: "bea", entitlement: "plus", store: "PROMOTIONAL"))
    #expect(found == ["ann pro e1", "bea pro e2", "ann plus e3", "bea plus e4"])
  }

  @Test(
    "A transfer moves the purchases of its store, or all without one",
    arguments: [
      ("APP_STORE", ["dog pro e1", "cat plus e2", "cat gold e3"]),
      ("", ["dog pro e1", "dog plus e2", "dog gold e3"]),
    ] as [(String, Set<String>)])
  func transferOfStore(store: String, expected: Set<String>) throws {
    let found = try Self.access(
      Event(id: "e1", customer: "cat"),
      Event(id: "e2", customer: "cat", entitlement: "plus", store: "PLAY_STORE", purchase: "GPA.1"),
      Event(id: "e3", customer: "cat", entitlement: "gold", store: "PROMOTIONAL", purchase: "rc1"),
      Event(id: "t", type: "TRANSFER", at: 20, store: store, transfer: ("cat", "dog")))
    #expect(found == expected)
  }

  @Test("A later transfer of the former customer leaves what was transferred before")
  func transferredBefore() throws {
    let found = try Self.access(
      Event(id: "e1", customer: "cat", purchase: "1"),
      Event(id: "t1", type: "TRANSFER", at: 20, transfer: ("cat", "dog")),
      Event(id: "e2", at: 30, customer: "cat", purchase: "2"),
      Event(id: "t2", type: "TRANSFER", at: 40, transfer: ("cat", "eve")))
    #expect(found == ["dog pro e1", "eve pro e2"])
  }

  @Test("A purchase that is transferred and reported again stays with the customer of the report")
  func transferredAndRenewed() throws {
    let found = try Self.access(
      Event(id: "e1", customer: "cat"),
      Event(id: "t1", type: "TRANSFER", at: 20, transfer: ("cat", "dog")),
      Event(id: "e2", at: 30, customer: "dog"),
      Event(id: "t2", type: "TRANSFER", at: 40, transfer: ("dog", "cat")))
    #expect(found == ["cat pro e2"])
  }

  @Test("A line is obsolete after a later statement about its purchase, also under the id of a renewal")
  func lines() throws {
    var line = ImportRow()
    (line.customerID, line.store, line.purchaseID, line.entitlements) = ("mike", "app_store", "7", ["pro"])
    let renewal =
      #"{"event": {"id": "e1", "type": "RENEWAL", "event_timestamp_ms": 20, "expiration_at_ms": 900,"#
      + #""app_user_id": "ann", "entitlement_ids": ["pro"], "store": "APP_STORE", "original_transaction_id": "1","#
      + #""transaction_id": "7"}}"#
    let event = (try RevenueCatEvent(Array(renewal.utf8)), try JSONValue(parsing: Array(renewal.utf8)))
    for isEventFirst in [true, false] {
      var statements = AccessStatements(entitlementNames: [:])
      if isEventFirst { statements.add(event.0, event.1) }
      statements.add(line, knownAt: Instant(millisecondsSince1970: 10))
      if !isEventFirst { statements.add(event.0, event.1) }
      #expect(statements.access.map(\.customerID) == ["ann"])
      #expect(statements.access.first?.statements.map(\.eventID) == ["e1"])
    }
  }

  @Test("Statements about merged customers are joined by entitlement, under the id of the latest one")
  func joined() throws {
    var statements = AccessStatements(entitlementNames: [:])
    for event in [
      Event(id: "e1", at: 20, until: 500, customer: "old", purchase: "1"),
      Event(id: "e2", at: 10, until: 900, customer: "new", purchase: "2"),
      Event(id: "e3", at: 30, customer: "new", entitlement: "plus", purchase: "3"),
    ] {
      let (event, document) = try event.parsed()
      statements.add(event, document)
    }
    let joined = StatedAccess.joined(statements.access)
    #expect(joined.map { "\($0.customerID) \($0.entitlement)" } == ["new plus", "old pro"])
    #expect(joined.last?.deciding?.eventID == "e2")
  }
}
