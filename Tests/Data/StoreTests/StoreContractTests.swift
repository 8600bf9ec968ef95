import AppStore
import Entitlements
import Store
import TestSupport
import Testing

/// Contract tests of customers, answers, snapshots and writes.
@Suite struct StoreContractTests {
  @Test("Lines of different environments are independent", arguments: Backend.allCases)
  func environments(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let id = try transaction.append(evidence("a")).id
        _ = try transaction.put(fact(), of: line("L1", .production), from: id)
        try transaction.record(gain(line("L1", .production), "ana", id))
        _ = try transaction.put(fact(line: "L2"), of: line("L2"), from: id)
      }
      let (facts, owners) = try await store.write { transaction throws(StoreError) in
        (try transaction.facts(of: line()), try transaction.owners(of: line()))
      }
      #expect(facts == CustomerFacts())
      #expect(owners.isEmpty)
    }
  }

  @Test(
    "A throwing body writes nothing, and the others of its batch are committed", arguments: Backend.allCases)
  func allOrNothing(backend: Backend) async throws {
    try await backend.withStore { store in
      await withTaskGroup { group in
        for number in 0..<40 {
          group.addTask {
            _ = try? await store.write { transaction throws(StoreError) in
              _ = try transaction.append(evidence("\(number)"))
              if number.isMultiple(of: 2) { throw StoreError.corrupt("on purpose") }
            }
          }
        }
      }
      let counts = try await store.snapshot { try $0.counts() }
      #expect(counts.evidence == 20)
    }
  }

  @Test("A reader sees one snapshot until its tick ends, then later writes", arguments: Backend.allCases)
  func ticks(backend: Backend) async throws {
    try await backend.withStore { store in
      let facts = CustomerFacts(transactions: [fact()])
      let reader = try store.makeCheckReader()
      #expect(try reader.facts(of: customer) == nil)
      try await store.put(facts)
      #expect(try reader.facts(of: customer) == nil)
      reader.endTick()
      #expect(try reader.facts(of: customer) == facts)
      reader.endTick()
      reader.endTick()
      let inside = try await store.write { transaction throws(StoreError) in
        try transaction.customer(customer)?.facts
      }
      #expect(inside == facts)
    }
  }

  @Test("Every reader sees an acknowledged write at once", arguments: Backend.allCases)
  func readYourWrites(backend: Backend) async throws {
    try await backend.withStore { store in
      let readers = try (0..<3).map { _ in try store.makeCheckReader() }
      for signed in Int64(1)...50 {
        let facts = CustomerFacts(transactions: [fact(signed: signed)])
        try await store.put(facts)
        for reader in readers {
          #expect(try reader.facts(of: customer) == facts)
          reader.endTick()
        }
      }
    }
  }

  @Test("Precomputed answers equal evaluated ones while they are valid", arguments: Backend.allCases)
  func answers(backend: Backend) async throws {
    try await backend.withStore { store in
      let facts = CustomerFacts(transactions: [fact(revoked: instant(90))])
      try await store.put(facts, from: instant(5))
      try await store.snapshot { reader throws in
        func answer(_ entitlement: String, at now: Int64, _ change: UInt64 = 0) throws -> AnswerLookup {
          try reader.answer(
            to: entitlement, of: customer, under: app.fingerprint ^ change, at: instant(now))
        }
        for now in [Int64(5), 89, 90, 1_000_000_000] {
          for entitlement in ["pro", "plus"] {
            let expected = evaluate(facts, entitlement: entitlement, in: app, at: instant(now))
            guard case .precomputed(let segment) = try answer(entitlement, at: now) else {
              Issue.record("no answer to \(entitlement) at \(now)")
              continue
            }
            #expect(segment.status == expected)
            #expect(segment.end == (entitlement == "pro" && now < 90 ? instant(90) : nil))
          }
        }
        #expect(try answer("pro", at: 4) == .stale)
        #expect(try answer("pro", at: 5, 1) == .stale)
        #expect(try answer("unheard of", at: 5) == .stale)
      }
    }
  }

  @Test("A customer's version is raised before the write is acknowledged", arguments: Backend.allCases)
  func changes(backend: Backend) async throws {
    try await backend.withStore { store in
      let slot = store.changes.slot(of: customer)
      let reader = try store.makeCheckReader()
      let before = try reader.snapshotVersion()
      #expect(store.changes.lastCommit(in: slot) <= before)
      try await store.put(CustomerFacts(transactions: [fact()]), from: instant(5))
      // The snapshot began before the commit and does not include it.
      #expect(try reader.snapshotVersion() == before)
      #expect(store.changes.lastCommit(in: slot) > before)
      reader.endTick()
      let after = try reader.snapshotVersion()
      #expect(store.changes.lastCommit(in: slot) <= after)
      #expect(try reader.facts(of: customer) != nil)
      _ = try await store.append(evidence("unrelated"))
      #expect(store.changes.lastCommit == after)
    }
  }

  @Test("Every customer is found and none is confused with another", arguments: Backend.allCases)
  func customers(backend: Backend) async throws {
    try await backend.withStore { store in
      let keys = ["ocean", "oce"].flatMap { app in
        ["ana", "anana", "", "n"].flatMap { id in
          [AppStore.Environment.sandbox, .production].map {
            CustomerKey(appID: app, environment: $0, customerID: id)
          }
        }
      }
      for round in 1...2 {
        for (place, key) in keys.enumerated() {
          let facts = CustomerFacts(transactions: [fact("T\(place)-\(round)", line: "T\(place)")])
          try await store.put(facts, of: key)
        }
      }
      try await store.snapshot { reader throws in
        for (place, key) in keys.enumerated() {
          #expect(try reader.facts(of: key)?.transactions.map(\.transactionID) == ["T\(place)-2"])
          let answer = try reader.answer(to: "pro", of: key, under: app.fingerprint, at: instant(5))
          guard case .precomputed(let segment) = answer else {
            Issue.record("no answer for \(key)")
            continue
          }
          #expect(segment.status.deciding?.transactionID == "T\(place)-2")
        }
        let stranger = CustomerKey(appID: "ocean", environment: .xcode, customerID: "ana")
        #expect(try reader.facts(of: stranger) == nil)
        #expect(
          try reader.answer(to: "pro", of: stranger, under: app.fingerprint, at: instant(5))
            == .unknownCustomer)
        #expect(try reader.counts().customers == Int64(keys.count))
      }
    }
  }

  @Test("Paging through an app returns each customer once", arguments: Backend.allCases)
  func pages(backend: Backend) async throws {
    try await backend.withStore { store in
      for number in 0..<25 {
        for (app, environment) in [
          ("ocean", AppStore.Environment.sandbox), ("ocean", .production), ("oce", .sandbox),
        ] {
          try await store.put(
            CustomerFacts(transactions: [fact("T\(number)", line: "T\(number)")]),
            of: CustomerKey(appID: app, environment: environment, customerID: "c\(number)"))
        }
      }
      try await store.snapshot { reader throws in
        var found: [CustomerRecord] = []
        while true {
          let page = try reader.customers(
            of: "ocean", in: .sandbox, after: found.last?.key.customerID, limit: 10)
          found += page
          guard page.count == 10 else { break }
        }
        #expect(found.map(\.key.customerID).sorted() == (0..<25).map { "c\($0)" }.sorted())
        #expect(found.allSatisfy { $0.key.appID == "ocean" && $0.key.environment == .sandbox })
        #expect(
          found.allSatisfy { "c\($0.facts.transactions[0].transactionID.dropFirst())" == $0.key.customerID })
      }
    }
  }

  @Test("A closed store rejects writes and keeps the earlier ones", arguments: Backend.allCases)
  func closed(backend: Backend) async throws {
    try await backend.withStore { store in
      _ = try await store.append(evidence("a"))
      try await store.health()
      await store.close()
      await #expect(throws: StoreError.closed) { try await store.append(evidence("b")) }
    }
  }
}
