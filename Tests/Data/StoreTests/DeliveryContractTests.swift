import AppStore
import Entitlements
import Store
import TestSupport
import Testing

/// Contract tests of webhook cursors and deliveries.
@Suite struct DeliveryContractTests {
  private let webhook = WebhookKey(appID: "ocean", kind: .events, name: "billing")
  private let forwarding = WebhookKey(appID: "ocean", kind: .notifications, name: "billing")

  private func delivery(_ position: Int64, _ subject: String = "ana", due: Int64? = nil) -> Delivery {
    Delivery(
      position: position, environment: .sandbox, subject: subject, type: "entitlement.started",
      occurredAt: instant(position), dueAt: due.map(instant))
  }

  @Test(
    "A new webhook cursor begins after the last message, and beginning again keeps it",
    arguments: Backend.allCases)
  func begins(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { store throws(StoreError) in
        _ = try store.append(event(of: customer))
        let appended = try store.append(evidence("n"))
        try store.put(
          NotificationRecord(
            evidenceID: appended.id, appID: "ocean", environment: .sandbox, version: 2, state: .applied,
            receivedAt: instant(1)))
        try store.begin(webhook)
        _ = try store.append(event(of: customer))
        try store.begin(webhook)
        try store.begin(forwarding)
      }
      try await store.snapshot { reader throws in
        #expect(try reader.cursor(of: webhook) == WebhookCursor(position: 1))
        #expect(try reader.lastPosition(before: webhook) == 1)
        #expect(try reader.cursor(of: forwarding)?.position == reader.lastNotification())
        #expect(try reader.cursor(of: WebhookKey(appID: "ocean", kind: .events, name: "none")) == nil)
        #expect(try reader.notifications(of: "ocean", after: EvidenceID(rawValue: 0), limit: 9).count == 1)
        #expect(try reader.notifications(of: "sea", after: EvidenceID(rawValue: 0), limit: 9).isEmpty)
      }
    }
  }

  @Test("A position and a stop change nothing else of a cursor", arguments: Backend.allCases)
  func cursor(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { store throws(StoreError) in
        try store.begin(webhook)
        try store.stop(webhook, at: instant(5))
        try store.advance(webhook, to: 7)
      }
      try await store.snapshot { reader throws in
        #expect(try reader.cursor(of: webhook) == WebhookCursor(position: 7, goneAt: instant(5)))
      }
      try await store.write { store throws(StoreError) in try store.resume(webhook) }
      try await store.snapshot { reader throws in
        #expect(try reader.cursor(of: webhook) == WebhookCursor(position: 7))
      }
    }
  }

  @Test("Discarding removes dead letters and keeps pending deliveries", arguments: Backend.allCases)
  func discarded(backend: Backend) async throws {
    try await backend.withStore { store in
      let counts = try await store.write { store throws(StoreError) in
        for position in 1...5 {
          var delivery = delivery(Int64(position))
          if position != 4 { delivery.state = .deadLetter }
          try store.put(delivery, of: webhook)
        }
        return [
          try store.discard([2, 4, 9], of: webhook),
          try store.discard(nil, of: forwarding),
        ]
      }
      #expect(counts == [1, 0])
      try await store.snapshot { reader throws in
        #expect(
          try reader.deliveries(of: webhook, in: nil, after: 0, limit: 9).map(\.position) == [1, 3, 4, 5])
      }
      let all = try await store.write { store throws(StoreError) in try store.discard(nil, of: webhook) }
      #expect(all == 3)
      try await store.snapshot { reader throws in
        #expect(try reader.deliveries(of: webhook, in: nil, after: 0, limit: 9).map(\.position) == [4])
      }
    }
  }

  @Test("Only the first pending delivery of each ordering key is due", arguments: Backend.allCases)
  func order(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { store throws(StoreError) in
        try store.put(delivery(2, due: 50), of: webhook)
        try store.put(delivery(3), of: webhook)
        try store.put(delivery(1), of: webhook)
        try store.put(delivery(4, "ben", due: 70), of: webhook)
        try store.reschedule(
          [delivery(1).orderingKey, delivery(4, "ben").orderingKey], of: webhook, at: instant(60))
      }
      try await store.snapshot { reader throws in
        #expect(try reader.deliveries(of: webhook, dueBy: instant(99), limit: 9).map(\.position) == [1, 4])
        #expect(try reader.deliveries(of: webhook, dueBy: instant(60), limit: 9).map(\.position) == [1])
        #expect(try reader.nextDue(of: webhook) == instant(60))
        #expect(
          try reader.pendingDeliveries(with: delivery(1).orderingKey, of: webhook, limit: 2).map(\.position)
            == [1, 2])
      }
      try await store.write { store throws(StoreError) in
        try store.remove(1, of: webhook)
        try store.reschedule([delivery(1).orderingKey], of: webhook, at: instant(65))
        try store.put(delivery(5, "cem", due: 80), of: webhook)
        try store.retryNow([4, 9], of: webhook, at: instant(66))
      }
      try await store.snapshot { reader throws in
        #expect(try reader.deliveries(of: webhook, dueBy: instant(66), limit: 9).map(\.position) == [2, 4])
        #expect(
          try reader.deliveryCounts(of: webhook)
            == DeliveryCounts(pending: 4, deadLetters: 0, oldestPendingAt: instant(2)))
      }
    }
  }

  @Test("A dead letter is not due", arguments: Backend.allCases)
  func dead(backend: Backend) async throws {
    try await backend.withStore { store in
      var given = delivery(1)
      given.state = .deadLetter
      given.attempts = 7
      given.firstAttemptAt = instant(3)
      given.outcome = "status 500"
      try await store.write { [given] store throws(StoreError) in
        try store.put(given, of: webhook)
        try store.put(delivery(2, due: 5), of: webhook)
      }
      try await store.snapshot { [given] reader throws in
        #expect(try reader.deliveries(of: webhook, in: .deadLetter, after: 0, limit: 9) == [given])
        #expect(try reader.deliveries(of: webhook, in: nil, after: 1, limit: 9).map(\.position) == [2])
        #expect(try reader.deliveries(of: webhook, dueBy: instant(99), limit: 9).map(\.position) == [2])
      }
      try await store.write { store throws(StoreError) in
        try store.reschedule([delivery(1).orderingKey], of: webhook, at: instant(9))
        try store.retryNow(nil, of: webhook, at: instant(4))
      }
      try await store.snapshot { reader throws in
        #expect(try reader.deliveries(of: webhook, dueBy: instant(4), limit: 9).map(\.position) == [2])
      }
    }
  }

  @Test("A delivery of an event about no customer keeps its ordering key", arguments: Backend.allCases)
  func unowned(backend: Backend) async throws {
    try await backend.withStore { store in
      let unowned = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "")
      let waiting = delivery(1, "#77")
      try await store.write { store throws(StoreError) in
        _ = try store.append(event(of: unowned))
        try store.put(waiting, of: webhook)
        try store.reschedule([waiting.orderingKey], of: webhook, at: instant(9))
      }
      try await store.snapshot { reader throws in
        #expect(
          try reader.deliveries(of: webhook, dueBy: instant(9), limit: 9) == [delivery(1, "#77", due: 9)])
      }
    }
  }

  @Test(
    "A delivery that is stored after an erasure has the ordering key of the pseudonym",
    arguments: Backend.allCases)
  func storedAfterErasure(backend: Backend) async throws {
    try await backend.withStore { store in
      let keys = try await store.write { store throws(StoreError) in
        _ = try store.append(event(of: customer))
        _ = try store.erase(customer, as: "erased-1")
        try store.put(delivery(1), of: webhook)
        return try store.orderingKeys(at: [1, 2], of: webhook)
      }
      #expect(keys == [delivery(1, "erased-1").orderingKey])
    }
  }

  @Test("Erasure replaces the customer id in deliveries", arguments: Backend.allCases)
  func erased(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { store throws(StoreError) in
        try store.put(delivery(1), of: webhook)
        try store.put(delivery(1), of: forwarding)
        _ = try store.erase(customer, as: "erased-1")
      }
      try await store.snapshot { reader throws in
        #expect(
          try reader.deliveries(of: webhook, in: nil, after: 0, limit: 9).map(\.subject) == ["erased-1"])
        // Its purchase has the customer's id, and keeps it.
        #expect(
          try reader.deliveries(of: forwarding, in: nil, after: 0, limit: 9).map(\.subject) == ["ana"])
      }
    }
  }
}
