import AppStore
import Entitlements
import Store
import TestSupport
import Testing

/// Contract tests of evidence and of the facts that it states.
@Suite struct EvidenceContractTests {
  @Test("The same evidence is stored once and keeps its id", arguments: Backend.allCases)
  func evidenceOnce(backend: Backend) async throws {
    try await backend.withStore { store in
      let first = try await store.append(evidence("a"))
      let again = try await store.append(evidence("a"))
      #expect(!first.isDuplicate)
      #expect(again == AppendedEvidence(id: first.id, isDuplicate: true, knownAt: first.knownAt))
    }
  }

  @Test(
    "Evidence with other content, another verdict or another customer is not a duplicate",
    arguments: Backend.allCases)
  func evidenceIdentity(backend: Backend) async throws {
    try await backend.withStore { store in
      let all = [
        evidence("a"), evidence("b"), evidence("a", of: "ben"), evidence("a", of: nil),
        evidence("a", .rejected(reason: "BAD_SIGNATURE")), evidence("a", .rejected(reason: "WRONG_APP")),
      ]
      for one in all {
        let appended = try await store.append(one)
        #expect(!appended.isDuplicate)
      }
      try await store.snapshot { reader throws in
        let stored = try reader.evidence(after: nil, limit: 100)
        #expect(stored.map(\.evidence) == all)
        #expect(stored.map(\.id) == stored.map(\.id).sorted())
        #expect(try reader.evidence(after: stored[1].id, limit: 2).map(\.evidence) == Array(all[2...3]))
        #expect(try reader.counts().evidence == 6)
        #expect(try reader.counts().rejectedEvidence == 2)
      }
      var other = evidence("c")
      other.appID = "lake"
      _ = try await store.append(other)
      #expect(try await store.snapshot { try $0.appsWithEvidence() } == ["lake", "ocean"])
    }
  }

  @Test(
    "Evidence whose content was replaced can be restored beside equal evidence that arrived later",
    arguments: Backend.allCases)
  func restoredBesideEqual(backend: Backend) async throws {
    try await backend.withStore { store in
      let rejected = evidence("a", .rejected(reason: "BAD_SIGNATURE"))
      let purged = EvidenceContent(hash: rejected.content.hash, size: rejected.content.size, body: nil)
      let first = try await store.append(rejected)
      try await store.write { transaction throws(StoreError) in
        try transaction.replace(first.id, with: purged)
      }
      let second = try await store.append(rejected)
      #expect(!second.isDuplicate)
      let stored = try await store.snapshot { try $0.evidence(after: nil, limit: 9) }
      #expect(stored.map(\.isFoundByContent) == [false, true])
      try await backend.withStore { copy in
        try await copy.write { transaction throws(StoreError) in
          for evidence in stored { try transaction.restore(evidence) }
        }
        #expect(try await copy.snapshot { try $0.evidence(after: nil, limit: 9) } == stored)
        #expect(try await copy.append(rejected).id == second.id)
      }
    }
  }

  @Test("Oversized evidence keeps its hash and size", arguments: Backend.allCases)
  func withoutBody(backend: Backend) async throws {
    try await backend.withStore { store in
      _ = try await store.append(evidence("huge", body: false))
      let stored = try await store.snapshot { try $0.evidence(after: nil, limit: 1) }
      #expect(stored.first?.evidence == evidence("huge", body: false))
    }
  }

  @Test("The fact with the latest signature is stored, in any order of arrival", arguments: Backend.allCases)
  func newestWins(backend: Backend) async throws {
    try await backend.withStore { store in
      let answers = try await store.write { transaction throws(StoreError) in
        let id = try transaction.append(evidence("a")).id
        return [
          try transaction.put(fact(signed: 20), of: line(), from: id),
          try transaction.put(fact(signed: 10), of: line(), from: id),
          try transaction.put(fact(signed: 20), of: line(), from: id),
          try transaction.put(fact(signed: 30), of: line(), from: id),
        ]
      }
      #expect(answers == [.latest, .duplicate, .duplicate, .latest])
      let facts = try await store.write { transaction throws(StoreError) in
        try transaction.facts(of: line())
      }
      #expect(facts == CustomerFacts(transactions: [fact(signed: 30)]))
    }
  }

  @Test("All renewal infos are stored, with the first time each was known", arguments: Backend.allCases)
  func renewalHistory(backend: Backend) async throws {
    try await backend.withStore { store in
      let changes = try await store.write { transaction throws(StoreError) in
        let id = try transaction.append(evidence("a")).id
        func put(_ signed: Int64, knownAt: Int64) throws(StoreError) -> FactInsertion {
          try transaction.put(renewal(signed: signed), of: line(), knownAt: instant(knownAt), from: id)
        }
        return [
          try put(20, knownAt: 25), try put(10, knownAt: 26), try put(20, knownAt: 27),
          try put(20, knownAt: 24), try put(30, knownAt: 31),
        ]
      }
      #expect(changes == [.latest, .older, .duplicate, .latest, .latest])
      let facts = try await store.write { transaction throws(StoreError) in
        try transaction.facts(of: line())
      }
      let history = try #require(facts.renewalHistories.first)
      #expect(history.contents.count == 1)
      #expect(history.signatures.map(\.signedDate) == [instant(10), instant(20), instant(30)])
      #expect(history.signatures.map(\.knownAt) == [instant(26), instant(24), instant(31)])
      #expect(facts.renewals == [renewal(signed: 30)])
    }
  }

  @Test(
    "Evidence that arrives after the clock was set back is not recorded as known earlier",
    arguments: Backend.allCases)
  func knownAt(backend: Backend) async throws {
    try await backend.withStore { store in
      func append(_ text: String, at received: Int64) async throws -> Instant {
        var arrived = evidence(text)
        arrived.receivedAt = instant(received)
        return try await store.append(arrived).knownAt
      }
      #expect(try await append("a", at: 9000) == instant(9000))
      #expect(try await append("b", at: 5000) == instant(9000))
      #expect(try await append("c", at: 9001) == instant(9001))
      #expect(try await append("b", at: 9500) == instant(9000))
      let stored = try await store.snapshot { try $0.evidence(after: nil, limit: 9) }
      #expect(stored.map(\.knownAt) == [instant(9000), instant(9000), instant(9001)])
      #expect(stored.map(\.evidence.receivedAt) == [instant(9000), instant(5000), instant(9001)])
    }
  }

  @Test("The evidence of a fact stays when an older document adds a refund", arguments: Backend.allCases)
  func evidenceAfterOlderDocument(backend: Backend) async throws {
    try await backend.withStore { store in
      let (ids, insertions) = try await store.write { transaction throws(StoreError) in
        var refunded = fact(signed: 20, revoked: instant(15))
        refunded.details.refunds = [.init(date: instant(15), percentage: nil)]
        let ids = [try transaction.append(evidence("a")).id, try transaction.append(evidence("b")).id]
        return (
          ids,
          [
            try transaction.put(fact(signed: 30), of: line(), from: ids[0]),
            try transaction.put(refunded, of: line(), from: ids[1]),
          ]
        )
      }
      #expect(insertions == [.latest, .older])
      try await store.snapshot { reader throws in
        #expect(try reader.evidence(of: .transaction("T1", ofLine: "L1"), of: customer) == ids[0])
      }
    }
  }

  @Test("The evidence of a fact is the first that stated it", arguments: Backend.allCases)
  func evidenceOfFacts(backend: Backend) async throws {
    try await backend.withStore { store in
      let ids = try await store.write { transaction throws(StoreError) in
        var ids: [EvidenceID] = []
        for number in 0..<5 { ids.append(try transaction.append(evidence("\(number)")).id) }
        _ = try transaction.put(fact(), of: line(), from: ids[0])
        _ = try transaction.put(fact(), of: line(), from: ids[1])
        _ = try transaction.put(fact("T2", signed: 20), of: line(), from: ids[1])
        _ = try transaction.put(fact("T2", signed: 30), of: line(), from: ids[2])
        let grant = GrantFact(
          grantID: "grant-1", entitlement: "pro", accessLevel: .full, since: instant(1), until: nil)
        try transaction.put(grant, of: line("grant-1"), from: ids[3])
        try transaction.index(ids[4], under: line("seat-1"))
        try transaction.index(ids[2], under: line("seat-1"))
        return ids
      }
      try await store.snapshot { reader throws in
        func found(_ fact: DecidingFact) throws -> EvidenceID? { try reader.evidence(of: fact, of: customer) }
        #expect(try found(.transaction("T1", ofLine: "L1")) == ids[0])
        #expect(try found(.transaction("T2", ofLine: "L1")) == ids[2])
        #expect(try found(.transaction("T3", ofLine: "L1")) == nil)
        #expect(try found(.transaction("T1", ofLine: "L2")) == nil)
        #expect(try found(.grant("grant-1")) == ids[3])
        #expect(try found(.transaction("T1", ofLine: "seat-1")) == ids[2])
      }
    }
  }
}
