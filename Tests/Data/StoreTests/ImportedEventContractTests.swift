import AppStore
import CustomerImport
import Entitlements
import Store
import TestSupport
import Testing

@Suite("Contract: RevenueCat's events and disagreements")
struct ImportedEventContractTests {
  private let ann = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ann")

  private func event(_ id: String, of customers: String..., received: Int64 = 5) throws -> ImportedEvent {
    try event(id, of: customers, received: received)
  }

  private func event(
    _ id: String, of customers: [String], purchase: String = "", received: Int64 = 5
  ) throws -> ImportedEvent {
    let aliases = customers.map { "\"\($0)\"" }.joined(separator: ",")
    let body = Array(
      """
      {"event":{"id":"\(id)","type":"RENEWAL","event_timestamp_ms":\(received),"environment":"SANDBOX",
        "aliases":[\(aliases)],"entitlement_ids":["pro"],"store":"APP_STORE","original_transaction_id":"\(purchase)"}}
      """.utf8)
    return ImportedEvent(
      try RevenueCatEvent(body), of: "ocean", receivedAt: instant(received), body: body)
  }

  private func disagreement(_ customer: CustomerKey, detected: Int64) -> OpenDisagreement {
    OpenDisagreement(
      customer: customer, entitlement: "pro", kind: .oursOnly, detectedAt: instant(detected),
      checkedAt: instant(9), statedUntil: nil, eventID: "e1", reason: .subscriptionActive, until: instant(90),
      evidenceID: nil)
  }

  @Test("An event is stored once, and requests a comparison of its customer", arguments: Backend.allCases)
  func events(backend: Backend) async throws {
    try await backend.withStore { store in
      let (first, other) = (try event("e1", of: "ann", "bea"), try event("e2", of: "ann", received: 6))
      let results = try await store.write { store throws(StoreError) in
        [try store.insert(first), try store.insert(first), try store.insert(other)]
      }
      #expect(results == [true, false, true])
      try await store.snapshot { reader throws in
        #expect(try reader.importedEvent("e1", of: "ocean", in: .sandbox) == first.body)
        #expect(try reader.importedEvent("e1", of: "ocean", in: .production) == nil)
        #expect(try reader.importedEventIDs(naming: ann, limit: 9) == ["e2", "e1"])
        #expect(try reader.importedEventIDs(naming: ann, limit: 1) == ["e2"])
        #expect(try reader.importedEventIDs(naming: ann.other("bea"), limit: 9) == ["e1"])
        let due = try reader.comparisons(dueBy: instant(0), in: .sandbox, limit: 9)
        #expect(due == [PendingComparison(customer: ann, events: 2)])
        #expect(try reader.comparison(of: ann) == due.first)
        #expect(try reader.comparison(of: ann.other("bea")) == nil)
        #expect(try reader.nextComparison(in: .others) == nil)
      }
    }
  }

  @Test("The events about a purchase are found, also those of another customer", arguments: Backend.allCases)
  func purchases(backend: Backend) async throws {
    try await backend.withStore { store in
      let events = [
        try event("e1", of: ["ann"], purchase: "1"), try event("e2", of: ["bea"], purchase: "1", received: 6),
        try event("e3", of: ["ann"], purchase: "2"), try event("e4", of: ["ann"]),
      ]
      try await store.write { store throws(StoreError) in
        for event in events { _ = try store.insert(event) }
      }
      try await store.snapshot { reader throws in
        func ids(_ purchase: String, in environment: Environment = .sandbox, limit: Int = 9) throws
          -> [String]
        {
          try reader.importedEventIDs(aboutPurchase: purchase, of: "ocean", in: environment, limit: limit)
        }
        #expect(try ids("app_store 1") == ["e2", "e1"])
        #expect(try ids("app_store 1", limit: 1) == ["e2"])
        #expect(try ids("app_store 2") == ["e3"])
        #expect(try ids("app_store ").isEmpty && ids("app_store 1", in: .production).isEmpty)
      }
    }
  }

  @Test("A comparison of several customers leaves out those who are gone", arguments: Backend.allCases)
  func settleSeveral(backend: Backend) async throws {
    try await backend.withStore { store in
      let events = try ["ann", "bea", "cat"].map { try event($0, of: $0) }
      let customers = events.map { ann.other($0.eventID) }
      try await store.write { store throws(StoreError) in
        for event in events { _ = try store.insert(event) }
        _ = try store.erase(customers[1], as: "erased")
        try store.settle(
          customers.map { PendingComparison(customer: $0, events: 1) },
          customers.map { disagreement($0, detected: 7) }, next: instant(50))
      }
      try await store.snapshot { reader throws in
        let query = DisagreementFilter(appID: "ocean", environment: .sandbox, limit: 9)
        #expect(try reader.openDisagreements(query).map(\.customer.customerID) == ["ann", "cat"])
        #expect(try reader.comparison(of: customers[1]) == nil)
        #expect(try reader.nextComparison(in: .all) == instant(50))
      }
    }
  }

  @Test("An erasure finds the customer among any number of aliases", arguments: Backend.allCases)
  func manyAliases(backend: Backend) async throws {
    try await backend.withStore { store in
      let anonymous = (1...300).map { "$RCAnonymousID:\($0)" }
      let event = try event("e1", of: anonymous + ["ann"])
      try await store.write { store throws(StoreError) in
        _ = try store.insert(event)
        _ = try store.erase(ann, as: "erased")
      }
      try await store.snapshot { reader throws in
        #expect(try reader.importedEvent("e1", of: "ocean", in: .sandbox) == nil)
        #expect(try reader.importedEventIDs(naming: ann.other(anonymous[0]), limit: 9).isEmpty)
      }
    }
  }

  @Test(
    "A comparison replaces the open disagreements, unless an event arrived meanwhile",
    arguments: Backend.allCases)
  func settle(backend: Backend) async throws {
    try await backend.withStore { store in
      let (first, other) = (try event("e1", of: "ann"), try event("e2", of: "ann"))
      let open = disagreement(ann, detected: 7)
      try await store.write { store throws(StoreError) in
        _ = try store.insert(first)
        try store.settle([PendingComparison(customer: ann, events: 1)], [open], next: instant(50))
        _ = try store.insert(other)
        try store.settle([PendingComparison(customer: ann, events: 1)], [], next: nil)
      }
      try await store.snapshot { reader throws in
        let query = DisagreementFilter(appID: "ocean", environment: .sandbox, limit: 9)
        #expect(try reader.openDisagreements(query) == [open])
        #expect(try reader.detectionTime(ofDisagreementAbout: "pro", of: ann) == instant(7))
        #expect(try reader.detectionTime(ofDisagreementAbout: "plus", of: ann) == nil)
        #expect(
          try reader.openDisagreementCounts()
            == [OpenCount(appID: "ocean", environment: .sandbox, count: 1)])
        #expect(try reader.comparisons(dueBy: instant(0), in: .all, limit: 9).map(\.events) == [2])
      }
      try await store.write { store throws(StoreError) in
        try store.settle([PendingComparison(customer: ann, events: 2)], nil, next: instant(40))
      }
      try await store.snapshot { reader throws in
        #expect(try reader.openDisagreementCounts().map(\.count) == [1])
        #expect(try reader.nextComparison(in: .all) == instant(40))
      }
      try await store.write { store throws(StoreError) in
        try store.settle([PendingComparison(customer: ann, events: 2)], [], next: instant(50))
      }
      try await store.snapshot { reader throws in
        #expect(try reader.openDisagreementCounts().isEmpty)
        #expect(try reader.nextComparison(in: .all) == instant(50))
      }
    }
  }

  @Test("Disagreements are listed page by page, the oldest first", arguments: Backend.allCases)
  func list(backend: Backend) async throws {
    try await backend.withStore { store in
      let events = try ["a", "b", "c"].map { try event($0, of: $0) }
      try await store.write { store throws(StoreError) in
        for (position, event) in events.enumerated() {
          _ = try store.insert(event)
          let customer = ann.other(event.eventID)
          try store.settle(
            [PendingComparison(customer: customer, events: 1)],
            [disagreement(customer, detected: Int64(3 - position))], next: instant(50))
        }
      }
      try await store.snapshot { reader throws in
        func ids(_ change: (inout DisagreementFilter) -> Void) throws -> [String] {
          var query = DisagreementFilter(appID: "ocean", environment: .sandbox, limit: 9)
          change(&query)
          return try reader.openDisagreements(query).map(\.customer.customerID)
        }
        #expect(try ids { _ in } == ["c", "b", "a"])
        #expect(try ids { $0.limit = 1 } == ["c"])
        #expect(
          try ids { $0.after = .init(detectedAt: instant(1), customerID: "c", entitlement: "pro") }
            == ["b", "a"])
        #expect(try ids { $0.customerID = "b" } == ["b"])
        #expect(try ids { $0.environment = .production } == [])
      }
    }
  }

  @Test(
    "The events of anonymous ids are erased with their customer, unless they name another one",
    arguments: Backend.allCases)
  func anonymousEvents(backend: Backend) async throws {
    try await backend.withStore { store in
      let events = [
        try event("e1", of: "$RCAnonymousID:1"), try event("e2", of: "ann", "$RCAnonymousID:1"),
        try event("e3", of: "$RCAnonymousID:2"), try event("e4", of: "ann", "$RCAnonymousID:2"),
        try event("e5", of: "bea", "$RCAnonymousID:2"),
      ]
      try await store.write { store throws(StoreError) in
        for event in events { _ = try store.insert(event) }
        _ = try store.erase(ann, as: "erased")
      }
      try await store.snapshot { reader throws in
        for (id, isStored) in [("e1", false), ("e2", false), ("e3", true), ("e4", false), ("e5", true)] {
          #expect(try (reader.importedEvent(id, of: "ocean", in: .sandbox) != nil) == isStored, "\(id)")
        }
        let due = try reader.comparisons(dueBy: instant(0), in: .all, limit: 9).map(\.customer.customerID)
        #expect(Set(due) == ["$RCAnonymousID:2", "bea"])
        #expect(try reader.appsWithImportedEvents() == ["ocean"])
      }
    }
  }

  @Test(
    "An anonymous id keeps the events that name an id with another Unicode normalization",
    arguments: Backend.allCases)
  func normalization(backend: Backend) async throws {
    try await backend.withStore { store in
      let anonymous = "$RCAnonymousID:1"
      let events = [
        try event("e1", of: "Jos\u{E9}", anonymous), try event("e2", of: "Jose\u{301}", anonymous),
      ]
      try await store.write { store throws(StoreError) in
        for event in events { _ = try store.insert(event) }
        _ = try store.erase(ann.other("Jos\u{E9}"), as: "erased")
      }
      try await store.snapshot { reader throws in
        #expect(try reader.importedEventIDs(naming: ann.other(anonymous), limit: 9) == ["e2"])
      }
    }
  }

  @Test("Old events and those of an erased customer are deleted", arguments: Backend.allCases)
  func deletion(backend: Backend) async throws {
    try await backend.withStore { store in
      let events = [
        try event("e1", of: "ann", received: 1), try event("e2", of: "ann", "bea", received: 2),
        try event("e3", of: "bea", received: 3), try event("e4", of: "bea", received: 4),
      ]
      try await store.write { store throws(StoreError) in
        for event in events { _ = try store.insert(event) }
        _ = try store.erase(ann, as: "erased")
      }
      let bea = ann.other("bea")
      try await store.snapshot { reader throws in
        #expect(try reader.importedEventIDs(naming: ann, limit: 9).isEmpty)
        #expect(try reader.importedEventIDs(naming: bea, limit: 9) == ["e4", "e3"])
        #expect(try reader.comparisons(dueBy: instant(0), in: .all, limit: 9).map(\.customer) == [bea])
      }
      let count = try await store.write { store throws(StoreError) in
        try store.deleteImportedEvents(of: "ocean", receivedBefore: instant(4), limit: 9)
      }
      #expect(count == 1)
      try await store.snapshot { reader throws in
        #expect(try reader.importedEventIDs(naming: bea, limit: 9) == ["e4"])
      }
    }
  }
}
