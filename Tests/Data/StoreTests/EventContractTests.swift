import AppStore
import Entitlements
import Store
import TestSupport
import Testing

/// Contract tests of events, due times and commit listeners.
@Suite struct EventContractTests {
  private let ben = CustomerKey(appID: "ocean", environment: .production, customerID: "ben")

  @Test("Event sequences have no gaps, even after a failed write", arguments: Backend.allCases)
  func sequence(backend: Backend) async throws {
    try await backend.withStore { store in
      let first = try await store.write { transaction throws(StoreError) in
        [try transaction.append(event(of: customer)), try transaction.append(event(of: ben))]
      }
      _ = try? await store.write { transaction throws(StoreError) in
        _ = try transaction.append(event(of: ben))
        throw StoreError.corrupt("on purpose")
      }
      let dryRun = try await store.dryRun { transaction throws(StoreError) in
        try transaction.append(event(of: ben)).sequence
      }
      let last = try await store.write { transaction throws(StoreError) in
        try transaction.append(event(of: customer, .ended))
      }
      #expect(first.map(\.sequence) == [1, 2])
      #expect(dryRun == 3)
      #expect(last.sequence == 3)
      try await store.snapshot { reader throws in
        #expect(try reader.events(ofApp: "ocean", after: 0, limit: 9) == first + [last])
        #expect(try reader.events(ofApp: "ocean", after: 1, limit: 1) == [first[1]])
        #expect(try reader.events(of: customer, after: 0, limit: 9) == [first[0], last])
        #expect(try reader.events(of: customer, after: 1, limit: 9) == [last])
        #expect(try reader.lastSequence(ofApp: "ocean") == 3)
        #expect(try reader.lastSequence(of: ben) == 2)
        #expect(try reader.lastSequence(of: line("L1", .xcode).customer("zoe")) == 0)
        #expect(try reader.counts().events == 3)
      }
    }
  }

  @Test("Each app counts its own events without gaps", arguments: Backend.allCases)
  func sequenceOfApp(backend: Backend) async throws {
    try await backend.withStore { store in
      let other = CustomerKey(appID: "reef", environment: .production, customerID: "ben")
      let sequences = try await store.write { transaction throws(StoreError) in
        var sequences: [Int64] = []
        for customer in [ben, other, ben, other, other] {
          sequences.append(try transaction.append(event(of: customer)).sequence)
        }
        return sequences
      }
      #expect(sequences == [1, 1, 2, 2, 3])
      try await store.snapshot { reader throws in
        #expect(try reader.appsWithEvents() == ["ocean", "reef"])
        #expect(try reader.events(ofApp: "reef", after: 1, limit: 9).map(\.sequence) == [2, 3])
        #expect(try reader.events(of: ben, after: 1, limit: 9).map(\.sequence) == [2])
        #expect(try reader.lastSequence(ofApp: "none") == 0)
        let position = try reader.position(of: "reef")
        #expect(position.sequence == 3)
        #expect(position.includes(StorePosition(of: "reef", sequence: 3, mark: 0)))
        #expect(!position.includes(StorePosition(of: "reef", sequence: 4, mark: 0)))
        #expect(!position.includes(StorePosition(of: "reef", sequence: 1, mark: position.mark + 1)))
        #expect(store.feed.reach(position) == .reached)
      }
    }
  }

  @Test("A commit notifies its listeners", arguments: Backend.allCases)
  func commits(backend: Backend) async throws {
    try await backend.withStore { store in
      var commits = store.commits().makeAsyncIterator()
      _ = try await store.append(evidence("a"))
      _ = try await store.append(evidence("b"))
      #expect(await commits.next() != nil)
    }
  }

  @Test(
    "Customers are due when an answer changes by time alone, the longest overdue first",
    arguments: Backend.allCases)
  func due(backend: Backend) async throws {
    try await backend.withStore { store in
      for (id, end) in [("late", Int64(90)), ("early", 40), ("never", -1)] {
        let facts = CustomerFacts(transactions: [fact(revoked: end < 0 ? nil : instant(end))])
        try await store.put(facts, of: line().customer(id), from: instant(5))
      }
      #expect(try await store.snapshot { try $0.nextDue(in: .all) } == instant(40))
      try await store.write { transaction throws(StoreError) in
        #expect(try transaction.due(by: instant(39), in: .all, limit: 9).isEmpty)
        #expect(
          try transaction.due(by: instant(90), in: .all, limit: 9).map(\.customerID) == ["early", "late"])
        #expect(try transaction.due(by: instant(90), in: .all, limit: 1).map(\.customerID) == ["early"])
      }
      let facts = CustomerFacts(transactions: [fact(revoked: instant(40))])
      try await store.put(facts, of: line().customer("early"), from: instant(41))
      #expect(try await store.snapshot { try $0.nextDue(in: .all) } == instant(90))
    }
  }

  @Test("Customers with answers of another catalog fingerprint are found", arguments: Backend.allCases)
  func fingerprints(backend: Backend) async throws {
    try await backend.withStore { store in
      for number in 0..<5 { try await store.put(CustomerFacts(), of: line().customer("c\(number)")) }
      try await store.write { transaction throws(StoreError) in
        #expect(
          try transaction.customers(
            of: "ocean", withFingerprintOtherThan: app.fingerprint, after: nil, limit: 9
          ).isEmpty)
        let first = try transaction.customers(of: "ocean", withFingerprintOtherThan: 1, after: nil, limit: 3)
        let rest = try transaction.customers(
          of: "ocean", withFingerprintOtherThan: 1, after: first.last, limit: 3)
        #expect(Set(first + rest).count == 5)
      }
      #expect(try await store.snapshot { try $0.catalogChanges(of: "ocean") }.isEmpty)
      try await store.write { transaction throws(StoreError) in
        for (fingerprint, at) in [(UInt64.max, Int64(7)), (.max, 8), (1, 9)] {
          try transaction.record(CatalogChange(fingerprint: fingerprint, at: instant(at)), of: "ocean")
        }
      }
      let changes = try await store.snapshot { try $0.catalogChanges(of: "ocean") }
      #expect(changes.map(\.fingerprint) == [.max, 1] && changes.map(\.at) == [instant(7), instant(9)])
    }
  }

  @Test("A write reads the stored answers of a customer", arguments: Backend.allCases)
  func known(backend: Backend) async throws {
    try await backend.withStore { store in
      let facts = CustomerFacts(transactions: [fact(revoked: instant(90))])
      try await store.put(facts, from: instant(5))
      try await store.write { transaction throws(StoreError) in
        let known = try transaction.customer(customer)
        #expect(known?.facts == facts)
        #expect(known?.answers.start == instant(5))
        #expect(known?.answers.fingerprint == app.fingerprint)
        let status = evaluate(facts, entitlement: "pro", in: app, at: instant(95))
        #expect(try known?.answers.status(of: "pro", at: instant(95)) == status)
      }
    }
  }
}

func event(of customer: CustomerKey, _ kind: EntitlementChange.Kind = .started) -> NewEvent {
  let facts = CustomerFacts(transactions: [fact(revoked: instant(90))])
  let change = EntitlementChange(
    entitlement: "pro", kind: kind, effectiveAt: instant(7),
    before: evaluate(facts, entitlement: "plus", in: app, at: instant(7)),
    after: evaluate(facts, entitlement: "pro", in: app, at: instant(7)),
    subject: kind == .started ? nil : EventSubject(fact(revoked: instant(90))))
  return NewEvent(
    customer: customer, change: change, recordedAt: instant(8), evidenceID: nil, actor: "",
    counterparty: kind == .started ? nil : Counterparty(role: .tokenOwner, customerID: "zoe"))
}
