import AppStore
import Entitlements
import Store
import TestSupport
import Testing

@Suite("Contract: requests for retention messages")
struct RetentionRequestContractTests {
  private let line = LineKey(appID: "ocean", environment: .sandbox, lineID: "L1")

  private func request(
    _ id: String, received: Int64, _ change: (inout RetentionRequestRecord) -> Void = { _ in }
  ) -> RetentionRequestRecord {
    var request = RetentionRequestRecord(
      requestID: id, line: line, productID: "monthly", askedAt: instant(received - 1),
      receivedAt: instant(received))
    change(&request)
    return request
  }

  @Test("A request is found as it was stored first, with its latest outcome", arguments: Backend.allCases)
  func roundTrip(backend: Backend) async throws {
    try await backend.withStore { store in
      var stored = request("R1", received: 5) {
        $0.renewalProductID = "yearly"
        $0.locale = "de-DE"
        $0.answer = .promotionalOffer
        $0.reason = .rule
        $0.rule = "half"
        $0.messageID = "M"
        $0.offeredProductID = "yearly"
        $0.offerID = "stay"
        $0.microseconds = 77
        $0.dueAt = instant(9)
      }
      try await store.write { [stored] store throws(StoreError) in
        try store.insert(stored)
        try store.insert(request("R1", received: 6))
      }
      stored.outcome = .left
      stored.evaluatedAt = instant(9)
      stored.dueAt = nil
      try await store.write { [stored] store throws(StoreError) in try store.updateOutcome(of: stored) }
      let expected = stored
      try await store.snapshot { reader throws in
        let found = try reader.retentionRequests(RetentionRequestFilter(appID: "ocean", limit: 9))
        #expect(found == [expected])
        #expect(try reader.nextRetentionRequest(in: .all) == nil)
      }
    }
  }

  @Test("Requests are listed latest first, page by page, and counted", arguments: Backend.allCases)
  func list(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { store throws(StoreError) in
        for (id, received) in [("a", 1), ("b", 2), ("c", 2), ("d", 3)] as [(String, Int64)] {
          try store.insert(
            request(id, received: received) {
              $0.dueAt = instant(received + 10)
              if id == "d" { $0.outcome = .saved }
            })
        }
      }
      try await store.snapshot { reader throws in
        func ids(_ change: (inout RetentionRequestFilter) -> Void) throws -> [String] {
          var query = RetentionRequestFilter(appID: "ocean", limit: 9)
          change(&query)
          return try reader.retentionRequests(query).map(\.requestID)
        }
        #expect(try ids { _ in } == ["d", "c", "b", "a"])
        #expect(try ids { $0.limit = 2 } == ["d", "c"])
        #expect(try ids { $0.after = .init(instant(2), "c") } == ["b", "a"])
        #expect(try ids { $0.outcome = .saved } == ["d"])
        #expect(try ids { $0.lineID = "L2" } == [])
        #expect(
          try ids {
            $0.from = instant(2)
            $0.to = instant(3)
          } == ["c", "b"])
        #expect(try ids { $0.environment = .production } == [])
        #expect(try reader.nextRetentionRequest(in: .sandbox) == instant(11))
        #expect(try reader.nextRetentionRequest(in: .others) == nil)
        let due = try reader.retentionRequests(dueBy: instant(12), in: .all, limit: 2)
        #expect(due.first?.requestID == "a" && due.count == 2)
        let counts = try reader.retentionRequestCounts(of: "ocean", in: .sandbox, from: nil, to: nil)
        #expect(counts.map(\.count) == [3, 1] && counts.map(\.outcome) == [.pending, .saved])
        #expect(
          try reader.retentionRequestCounts(of: "ocean", in: nil, from: instant(4), to: nil).isEmpty)
      }
    }
  }

  @Test("Old requests with a final outcome are deleted, the oldest first", arguments: Backend.allCases)
  func deletion(backend: Backend) async throws {
    try await backend.withStore { store in
      let counts = try await store.write { store throws(StoreError) in
        for (id, received) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] as [(String, Int64)] {
          try store.insert(request(id, received: received))
        }
        try store.insert(request("due", received: 0) { $0.dueAt = instant(9) })
        return [
          try store.deleteRetentionRequests(in: .others, receivedBefore: instant(4), limit: 2),
          try store.deleteRetentionRequests(in: .all, receivedBefore: instant(4), limit: 2),
          try store.deleteRetentionRequests(in: .sandbox, receivedBefore: instant(4), limit: 2),
          try store.deleteRetentionRequests(in: .all, receivedBefore: instant(4), limit: 2),
        ]
      }
      #expect(counts == [0, 2, 1, 0])
      try await store.snapshot { reader throws in
        let left = try reader.retentionRequests(RetentionRequestFilter(appID: "ocean", limit: 9))
        #expect(left.map(\.requestID) == ["d", "due"])
      }
    }
  }

  @Test(
    "A refund request of any purchase of the customer is open until Apple decides",
    arguments: Backend.allCases)
  func refunds(backend: Backend) async throws {
    try await backend.withStore { store in
      let id = try await store.append(evidence("request")).id
      let other = LineKey(appID: "ocean", environment: .sandbox, lineID: "L2")
      func put(_ state: ConsumptionRequestRecord.State) async throws {
        try await store.write { store throws(StoreError) in
          try store.put(
            ConsumptionRequestRecord(
              id: id, line: other, transactionID: "T", productID: "monthly", reason: "",
              requestedAt: instant(5), state: state, error: "", attempts: 0, dueAt: nil, settledAt: nil))
        }
      }
      func isOpen(_ line: LineKey, since instant: Instant) async throws -> Bool {
        try await store.snapshot { try $0.hasOpenRefundRequest(about: line, since: instant) }
      }
      try await put(.open)
      #expect(try await isOpen(other, since: instant(9)))
      #expect(try await !isOpen(line, since: instant(9)), "the lines have no customer in common")
      try await store.write { store throws(StoreError) in
        for line in [line, other] { try store.record(gain(line, "ana", id)) }
      }
      #expect(try await isOpen(line, since: instant(9)))
      try await put(.answered)
      #expect(try await !isOpen(line, since: instant(9)))
      #expect(try await isOpen(line, since: instant(5)))
      try await put(.decided)
      #expect(try await !isOpen(line, since: instant(5)))
    }
  }
}
