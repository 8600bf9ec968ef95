import AppStore
import Entitlements
import Store
import TestSupport
import Testing

/// Contract tests of ownership, the claim queue, merges and erasure.
@Suite struct IdentityContractTests {
  @Test("A line's owner changes and the changes are recorded", arguments: Backend.allCases)
  func ownership(backend: Backend) async throws {
    try await backend.withStore { store in
      let (first, second) = try await store.write { transaction throws(StoreError) in
        let first = try transaction.append(evidence("a")).id
        let second = try transaction.append(evidence("b")).id
        try transaction.record(gain(line(), "ana", first))
        try transaction.record(gain(line("L2"), "ana", first))
        try transaction.record(loss(line(), "ana", second))
        try transaction.record(gain(line(), "ben", second, at: 2))
        return (first, second)
      }
      let history = [gain(line(), "ana", first), gain(line("L2"), "ana", first), loss(line(), "ana", second)]
      try await store.snapshot { reader throws in
        #expect(try reader.owners(of: line()) == ["ben"])
        #expect(try reader.owner(of: line("L9")) == nil)
        #expect(try reader.ownershipChanges(of: customer) == history)
      }
      try await store.write { transaction throws(StoreError) in
        #expect(try transaction.lines(of: customer) == [line("L2")])
        #expect(try transaction.ownershipChanges(of: customer, by: second) == [history[2]])
      }
    }
  }

  @Test("A shared line has several owners, the longest-standing first", arguments: Backend.allCases)
  func shared(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        try transaction.record(gain(line(), "zoe", transaction.append(evidence("a")).id))
        try transaction.record(gain(line(), "ana", transaction.append(evidence("b")).id))
      }
      #expect(try await store.snapshot { try $0.owners(of: line()) } == ["zoe", "ana"])
    }
  }

  @Test("Unclaimed lines are queued and found by their token", arguments: Backend.allCases)
  func claims(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let id = try transaction.append(evidence("a")).id
        for (number, token) in [("1", nil), ("2", "t"), ("3", "t"), ("4", "u")] {
          _ = try transaction.put(fact(number, line: number), of: line(number), from: id)
          try transaction.enqueue(line(number), token: token, replacing: nil)
        }
        try transaction.enqueue(line("5", .production), token: "t", replacing: nil)
        try transaction.dequeue(line("3"))
        #expect(try transaction.unclaimedLines(withToken: "t", of: "ocean", in: .sandbox) == [line("2")])
        #expect(try transaction.unclaimedLines(withToken: "", of: "ocean", in: .sandbox).isEmpty)
        // A later document says what the purchase replaced.
        #expect(try transaction.unclaimedLines(replacing: line("9")).isEmpty)
        try transaction.enqueue(line("1"), token: nil, replacing: line("9"))
        #expect(try transaction.unclaimedLines(replacing: line("9")) == [line("1")])
        #expect(try transaction.unclaimedLines(replacing: line("9", .production)).isEmpty)
        // A later document says the token, or another one.
        try transaction.enqueue(line("1"), token: "t", replacing: nil)
        #expect(try transaction.unclaimedLines(replacing: line("9")) == [line("1")])
        try transaction.enqueue(line("2"), token: "u", replacing: nil)
        try transaction.enqueue(line("2"), token: nil, replacing: nil)
        #expect(try transaction.unclaimedLines(withToken: "t", of: "ocean", in: .sandbox) == [line("1")])
        #expect(
          Set(try transaction.unclaimedLines(withToken: "u", of: "ocean", in: .sandbox))
            == [line("2"), line("4")])
        // The token of an erased owner does not come back.
        try transaction.enqueue(line("3"), token: erasedToken, replacing: nil)
        try transaction.enqueue(line("3"), token: "v", replacing: nil)
        #expect(try transaction.unclaimedLines(withToken: "v", of: "ocean", in: .sandbox).isEmpty)
        try transaction.dequeue(line("3"))
      }
      try await store.snapshot { reader throws in
        #expect(try reader.unclaimedLines(of: "ocean", in: .sandbox, after: "1", limit: 1) == [line("2")])
        #expect(try reader.unclaimedLines(of: "ocean", in: .sandbox, after: nil, limit: 9).count == 3)
      }
    }
  }

  @Test("A token stays bound to the first customer", arguments: Backend.allCases)
  func tokens(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        try transaction.register(token: "t", for: customer)
        try transaction.register(
          token: "t", for: CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ben"))
        #expect(try transaction.customerID(ofToken: "t", of: "ocean", in: .sandbox) == "ana")
        #expect(try transaction.customerID(ofToken: "t", of: "ocean", in: .production) == nil)
      }
    }
  }

  @Test("The merge target of a customer is stored until the merge is undone", arguments: Backend.allCases)
  func mergeTargets(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        #expect(try transaction.mergeTarget(of: customer) == nil)
        try transaction.setMergeTarget("ben", of: customer)
        #expect(try transaction.mergeTarget(of: customer) == "ben")
        let ben = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ben")
        #expect(try transaction.mergedCustomers(into: ben) == ["ana"])
        try transaction.setMergeTarget(nil, of: customer)
        #expect(try transaction.mergeTarget(of: customer) == nil)
      }
    }
  }

  @Test(
    "Grants and app installs are stored as lines, and grants are found by their id",
    arguments: Backend.allCases
  )
  func grants(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let id = try transaction.append(evidence("a")).id
        var grant = GrantFact(grantID: "grant-1", entitlement: "pro", since: instant(1))
        try transaction.put(grant, of: line("grant-1"), from: id)
        grant.revokedAt = instant(5)
        try transaction.put(grant, of: line("grant-1"), from: id)
        #expect(try transaction.facts(of: line("grant-1")).grants == [grant])
        #expect(try transaction.grant("grant-1", of: "ocean") == line("grant-1"))
        let copy = AppTransactionFact(
          appTransactionID: "7", originalApplicationVersion: "1.0", signedDate: instant(3))
        #expect(try transaction.put(copy, of: line("app-7"), from: id))
        #expect(try !transaction.put(copy, of: line("app-7"), from: id))
        #expect(try transaction.facts(of: line("app-7")).appTransactions == [copy])
        // What an older document states about the past stays.
        let revoked = AppTransactionFact(
          appTransactionID: "7", originalApplicationVersion: "1.0", revocationDate: instant(1),
          signedDate: instant(2))
        #expect(try transaction.put(revoked, of: line("app-7"), from: id))
        #expect(try !transaction.put(revoked, of: line("app-7"), from: id))
        let stored = try transaction.facts(of: line("app-7")).appTransactions
        #expect(stored == [revoked.merged(with: copy)])
        #expect(
          stored.first?.revocationDate == nil && stored.first?.earlier.map(\.revocationDate) == [instant(1)])
        try transaction.delete(grant: line("grant-1"))
        #expect(try transaction.facts(of: line("grant-1")) == CustomerFacts())
      }
    }
  }

  @Test("Erasing a customer leaves only the pseudonym", arguments: Backend.allCases)
  func erased(backend: Backend) async throws {
    try await backend.withStore { store in
      let ben = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ben")
      try await store.put(CustomerFacts(transactions: [fact()]))
      try await store.put(CustomerFacts(transactions: [fact()]), of: ben)
      let rows = try await store.write { transaction throws(StoreError) in
        let id = try transaction.append(evidence("a")).id
        _ = try transaction.append(evidence("b", .rejected(reason: "BAD_SIGNATURE")))
        try transaction.record(gain(line(), "ana", id))
        try transaction.record(loss(line(), "ana", id))
        try transaction.register(token: "t", for: customer)
        try transaction.setMergeTarget("ana", of: ben)
        _ = try transaction.append(event(of: customer))
        #expect(try transaction.evidence(naming: customer).count == 2)
        return try transaction.erase(customer, as: "erased-1")
      }
      #expect(rows > 6)
      try await store.snapshot { reader throws in
        #expect(try reader.facts(of: customer) == nil)
        #expect(try reader.facts(of: ben) != nil)
        #expect(try reader.counts().customers == 1)
        #expect(
          try reader.evidence(after: nil, limit: 9).map(\.evidence.customerID) == ["erased-1", "erased-1"])
        #expect(try reader.events(of: customer, after: 0, limit: 9).isEmpty)
        #expect(
          try reader.events(ofApp: customer.appID, after: 0, limit: 9).map(\.event.customer.customerID) == [
            "erased-1"
          ])
        #expect(try reader.ownershipChanges(of: customer).isEmpty)
      }
    }
  }
}
