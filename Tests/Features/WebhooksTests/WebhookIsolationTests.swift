import AppStore
import AppStoreClient
import MetricsTestKit
import Store
import Synchronization
import TestSupport
import Testing

@testable import Webhooks

/// Customers of one webhook do not disturb each other, and neither do changes of its configuration.
@Suite struct WebhookIsolationTests {
  private func pending(of stage: Stage) async throws -> [Delivery] {
    try await stage.store.snapshot {
      try $0.deliveries(of: stage.settings.key, in: .pending, after: 0, limit: 99)
    }
  }

  @Test(
    "After an outage, refused customers keep their schedule and do not delay the others",
    arguments: [422, 500])
  func refusedAfterOutage(status: Int) async throws {
    let schedule = [5, 300, 1_800, 7_200] as [Int64]
    try await Stage.run(delays: schedule, concurrency: 8) { stage in
      let isAway = Mutex(false)
      // The events 2, 4, … 16 are of refused customers.
      stage.receiver.answers { request in
        if isAway.withLock({ $0 }) { return .success(.status(503)) }
        return .success(.status(request.sequence <= 16 && request.sequence % 2 == 0 ? status : 200))
      }
      for number in 1...8 {
        try await stage.append("ok\(number)")
        try await stage.append("refused\(number)")
        _ = try await stage.runWorker()
      }
      stage.clock.advance(by: .seconds(10))
      _ = try await stage.runWorker()
      isAway.withLock { $0 = true }
      for number in 1...6 { try await stage.append("away\(number)") }
      _ = try await stage.runWorker()
      isAway.withLock { $0 = false }
      stage.clock.advance(by: .seconds(60))
      for number in 1...20 { try await stage.append("late\(number)") }
      let sent = Set(try await stage.runWorker())
      #expect(sent.isSuperset(of: 17...42))
      // The one that opened the circuit, and one that failed first since the last success, are sent before their time.
      #expect(status == 422 ? sent.count == 26 : sent.count <= 28)
      #expect(try await pending(of: stage).map(\.position) == [2, 4, 6, 8, 10, 12, 14, 16])
    }
  }

  @Test("A burst of refused customers stops no other one")
  func refusedBurst() async throws {
    try await Stage.run { stage in
      stage.receiver.answers { .success(.status($0.sequence <= 9 ? 403 : 200, [("retry-after", "60")])) }
      for number in 1...20 { try await stage.append("c\(number)") }
      #expect(try await stage.runWorker() == Array(1...20))
      stage.clock.advance(by: .seconds(30))
      #expect(try await stage.runWorker().isEmpty, "Retry-After applies to the refused messages")
    }
  }

  @Test("A slow customer does not delay the others, and its messages count as pending")
  func slowCustomer() async throws {
    try await Stage.run(concurrency: 2) { stage in
      let (gate, opener) = AsyncStream.makeStream(of: Void.self)
      stage.receiver.pauses { if $0.sequence == 1 { for await _ in gate {} } }
      for _ in 1...40 { try await stage.append("slow") }
      let run = Task { try await stage.worker.run() }
      // The worker stores the slow messages, and reads the next page meanwhile.
      try await Task.sleep(for: .milliseconds(100))
      for number in 1...5 { try await stage.append("fast\(number)") }
      while stage.receiver.count < 5 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(Set(stage.receiver.takeRequests().map(\.sequence)) == Set(41...45))
      while try await stage.status().cursor.position < 45 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(try await stage.status().counts.pending == 40)
      opener.finish()
      _ = try await run.value
      #expect(stage.receiver.takeRequests().map(\.sequence) == Array(1...40))
      #expect(try await stage.status().counts.pending == 0)
    }
  }

  @Test("Messages after an erasure name the pseudonym, in order")
  func erasure() async throws {
    try await Stage.run(concurrency: 4) { stage in
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
      stage.receiver.pauses { [store = stage.store] request in
        guard request.sequence == 2 else { return }
        _ = try? await store.write { transaction throws(StoreError) in
          try transaction.erase(ana, as: "erased-1")
        }
      }
      try await stage.append("ana", "ana", "ana", "ana")
      _ = try await stage.worker.run()
      let sent = stage.receiver.takeRequests()
      #expect(sent.map(\.sequence) == [1, 2, 3, 4])
      #expect(
        sent.map { String(decoding: $0.body, as: UTF8.self).contains("ana") } == [true, true, false, false])
    }
  }

  @Test("A webhook with the same URL keeps its pause when the webhooks are reloaded")
  func reloadedPause() async throws {
    try await Stage.run { stage in
      stage.receiver.answers { _ in .success(.status(429, [("retry-after", "3600")])) }
      try await stage.append("ana")
      let service = Task { await stage.dispatcher.run() }
      while stage.receiver.count < 1 { try await Task.sleep(for: .milliseconds(5)) }
      while try await stage.status().counts.pending < 1 { try await Task.sleep(for: .milliseconds(5)) }
      let other = WebhookSettings(
        key: WebhookKey(appID: "ocean", kind: .events, name: "other"), url: "https://other.example")
      _ = try await stage.dispatcher.adopt([stage.settings, other])
      try await stage.append("ben")
      while stage.receiver.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
      try await Task.sleep(for: .milliseconds(100))
      service.cancel()
      await service.value
      #expect(stage.receiver.takeRequests().map(\.url) == [stage.settings.url, other.url])
    }
  }

  @Test("A webhook that is removed has no pending deliveries in the metrics")
  func removedMetrics() async throws {
    let metrics = TestMetrics.ofProcess
    try await Stage.run("removed") { stage in
      func pending() -> Double? {
        let labels = [("app", "ocean"), ("kind", "events"), ("webhook", "removed")]
        return try? metrics.expectGauge("entitled_webhook_deliveries_pending", labels).lastValue
      }
      stage.receiver.answers { _ in .success(.status(500)) }
      try await stage.append("ana")
      let service = Task { await stage.dispatcher.run() }
      for _ in 1...2_000 where pending() != 1 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(pending() == 1)
      _ = try await stage.dispatcher.adopt([])
      for _ in 1...2_000 where pending() != 0 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(pending() == 0)
      service.cancel()
      await service.value
    }
  }

  @Test("A run stores the position that messages of other kinds moved")
  func filteredCursor() async throws {
    try await Stage.run(kinds: [.ended]) { stage in
      try await stage.append("ana", "ben", "cleo")
      #expect(try await stage.runWorker().isEmpty)
      #expect(try await stage.status().cursor.position == 3)
      try await stage.append("dora")
      let wait = try await stage.worker.run()
      #expect(wait < 60_000, "the next run stores it")
      stage.clock.advance(by: .milliseconds(wait))
      #expect(try await stage.runWorker().isEmpty)
      #expect(try await stage.status().cursor.position == 4)
    }
  }

  @Test("Dead letters of a kind that the webhook no longer selects stay when all are resent")
  func unselectedDeadLetters() async throws {
    try await Stage.run(delays: []) { stage in
      stage.receiver.answers { _ in .success(.status(500)) }
      try await stage.append("ana")
      try await stage.append("ben", kind: .ended)
      _ = try await stage.runWorker()
      #expect(try await stage.status().counts.deadLetters == 2)
      let narrowed = WebhookSettings(key: stage.settings.key, url: stage.settings.url, kinds: [.ended])
      stage.dispatcher.replace(with: [narrowed])
      guard case .resent(let result) = try await stage.admin.resend(.deadLetters, to: narrowed) else {
        return
      }
      #expect(result.count == 1)
      #expect(
        try await stage.status().counts
          == DeliveryCounts(pending: 1, deadLetters: 1, oldestPendingAt: stage.clock.now))
    }
  }
}
