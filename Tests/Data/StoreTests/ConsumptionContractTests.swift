import AppStore
import Entitlements
import Store
import TestSupport
import Testing

@Suite("Contract: consumption requests")
struct ConsumptionContractTests {
  private func consumptionRequest(
    _ id: EvidenceID, at requestedAt: Instant = instant(10), line number: String = "L1"
  ) -> ConsumptionRequestRecord {
    ConsumptionRequestRecord(
      id: id, line: line(number), transactionID: "T-\(number)", productID: "pro", reason: "OTHER",
      requestedAt: requestedAt)
  }

  @Test(
    "A consumption request is due at once, then at its next attempt, and never after it is settled",
    arguments: Backend.allCases)
  func due(backend: Backend) async throws {
    try await backend.withStore { store in
      let notification = try await store.append(evidence("asked"))
      var request = consumptionRequest(notification.id)
      try await store.write { [request] store throws(StoreError) in try store.put(request) }
      try await store.snapshot { reader throws in
        #expect(
          try reader.consumptionRequests(dueBy: instant(10), in: .all, limit: 9).map(\.id) == [
            notification.id
          ])
      }
      request.error = "NO_CONSENT"
      request.attempts = 3
      request.dueAt = instant(20)
      try await store.write { [request] store throws(StoreError) in try store.put(request) }
      try await store.snapshot { reader throws in
        #expect(try reader.consumptionRequests(dueBy: instant(19), in: .all, limit: 9).isEmpty)
        #expect(try reader.nextConsumptionRequest(in: .all) == instant(20))
        #expect(
          try reader.openConsumptionRequests() == [
            OpenDuties(appID: "ocean", environment: .sandbox, count: 1, earliest: instant(10))
          ])
      }
      let settled = try await store.write { store throws(StoreError) in
        guard var request = try store.consumptionRequest(notification.id) else { return false }
        request.settle(.missed, error: request.error, at: instant(30))
        try store.put(request)
        return try store.consumptionRequest(notification.id) == request
      }
      #expect(settled)
      try await store.snapshot { reader throws in
        #expect(try reader.nextConsumptionRequest(in: .all) == nil)
        #expect(try reader.openConsumptionRequests().isEmpty)
        #expect(
          try reader.consumptionRequests(ConsumptionRequestFilter(appID: "ocean", limit: 9)).first?.error
            == "NO_CONSENT")
      }
    }
  }

  @Test("Requests that a clock ahead closed or postponed are found", arguments: Backend.allCases)
  func aheadOfTime(backend: Backend) async throws {
    try await backend.withStore { store in
      var requests: [ConsumptionRequestRecord] = []
      for name in ["open", "late", "missed", "missed ahead", "answered"] {
        requests.append(consumptionRequest(try await store.append(evidence(name)).id))
      }
      requests[1].dueAt = instant(90)
      requests[2].settle(.missed, at: instant(20))
      requests[3].settle(.missed, at: instant(21))
      requests[4].settle(.answered, at: instant(21))
      let found = try await store.write { [requests] store throws(StoreError) in
        for request in requests { try store.put(request) }
        return try store.consumptionRequests(
          missedAfter: instant(20), orDueAfter: instant(80), in: .all)
      }
      #expect(Set(found) == [requests[1], requests[3]])
    }
  }

  @Test("A page contains the matching requests, latest first", arguments: Backend.allCases)
  func pages(backend: Backend) async throws {
    try await backend.withStore { store in
      var ids: [EvidenceID] = []
      for number in 1...3 {
        let notification = try await store.append(evidence("asked \(number)"))
        ids.append(notification.id)
        try await store.write { store throws(StoreError) in
          try store.put(consumptionRequest(notification.id, line: "L\(number)"))
          if number == 2 { try store.record(gain(line("L2"), "ana", notification.id)) }
        }
      }
      try await store.snapshot { [ids] reader throws in
        func found(_ change: (inout ConsumptionRequestFilter) -> Void) throws -> [EvidenceID] {
          var query = ConsumptionRequestFilter(appID: "ocean", limit: 2)
          change(&query)
          return try reader.consumptionRequests(query).map(\.id)
        }
        #expect(try found { _ in } == [ids[2], ids[1]])
        #expect(try found { $0.after = ids[1] } == [ids[0]])
        let others = [customer.other("ben"), customer].map { key in
          CustomerKey(appID: "ocean", environment: .production, customerID: key.customerID)
        }
        #expect(try found { $0.customers = [customer] } == [ids[1]])
        #expect(try found { $0.customers = others } == [])
        #expect(try found { $0.customers = others + [customer] } == [ids[1]])
        #expect(try found { $0.state = .answered } == [])
        #expect(try found { $0.environment = .production } == [])
        #expect(try found { $0.appID = "other" } == [])
      }
    }
  }

  @Test(
    "Open requests are listed by their deadlines, earliest first, page by page", arguments: Backend.allCases)
  func deadlines(backend: Backend) async throws {
    try await backend.withStore { store in
      var ids: [EvidenceID] = []
      // Notifications do not arrive in the order in which Apple signed them.
      for (number, seconds) in [30, 10, 20, 10, 5].enumerated() {
        let notification = try await store.append(evidence("asked \(number)"))
        ids.append(notification.id)
        try await store.write { store throws(StoreError) in
          var request = consumptionRequest(notification.id, at: instant(Int64(seconds)), line: "L\(number)")
          if number == 4 { request.settle(.answered, at: instant(40)) }
          try store.put(request)
        }
      }
      var query = ConsumptionRequestFilter(appID: "ocean", limit: 2)
      query.state = .open
      var listed: [[EvidenceID]] = []
      repeat {
        let page = try await store.snapshot { [query] reader throws in
          try reader.consumptionRequests(query).map(\.id)
        }
        listed.append(page)
        query.after = page.last
      } while listed.last?.isEmpty == false
      #expect(listed == [[ids[1], ids[3]], [ids[2], ids[0]], []])
    }
  }

  @Test("The latest consent counts, including that of a merged customer", arguments: Backend.allCases)
  func consent(backend: Backend) async throws {
    try await backend.withStore { store in
      let (first, second) = (
        try await store.append(evidence("1")).id, try await store.append(evidence("2")).id
      )
      let ben = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ben")
      let consents = try await store.write { store throws(StoreError) in
        var consents = [try store.consent(of: customer)]
        try store.put(ConsumptionConsent(isGiven: true, since: instant(1), evidenceID: first), of: ben)
        consents.append(try store.consent(of: customer))
        try store.setMergeTarget("ana", of: ben)
        consents.append(try store.consent(of: customer))
        try store.put(ConsumptionConsent(isGiven: false, since: instant(2), evidenceID: second), of: customer)
        consents.append(try store.consent(of: customer))
        return consents
      }
      #expect(consents.map { $0?.isGiven } == [nil, nil, true, false])
      #expect(consents.last??.since == instant(2))
    }
  }
}
