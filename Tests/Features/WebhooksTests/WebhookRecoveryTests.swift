import AppStoreClient
import MetricsTestKit
import Store
import Synchronization
import TestSupport
import Testing

@testable import Webhooks

/// What a webhook gets that demands a pause, is down, or recovers.
@Suite struct WebhookRecoveryTests {
  @Test("A message that was in flight before a Retry-After does not end it")
  func retryAfter() async throws {
    try await Stage.run(concurrency: 2) { stage in
      stage.receiver.answers {
        .success($0.sequence == 1 ? .status(429, [("retry-after", "30")]) : .status(200))
      }
      stage.receiver.pauses { if $0.sequence == 2 { try? await stage.awaitPending(1) } }
      try await stage.append("ana", "ben", "cem")
      #expect(try await stage.runWorker() == [1, 2])
      stage.receiver.answers { _ in .success(.status(200)) }
      stage.clock.advance(by: .seconds(29))
      #expect(try await stage.runWorker().isEmpty)
      stage.clock.advance(by: .seconds(1))
      #expect(try await stage.runWorker().sorted() == [1, 3])
    }
  }

  @Test("Customers whose messages fail again and again do not stop new messages", arguments: [1, 8])
  func failingCustomers(concurrency: Int) async throws {
    try await Stage.run(delays: [5, 300, 1_800, 7_200], concurrency: concurrency) { stage in
      stage.receiver.answers { .success(.status($0.sequence <= 80 && $0.sequence % 2 == 0 ? 500 : 200)) }
      for number in 1...40 {
        try await stage.append("ok\(number)")
        try await stage.append("failing\(number)")
        _ = try await stage.runWorker()
      }
      stage.clock.advance(by: .seconds(10))
      for number in 1...20 { try await stage.append("late\(number)") }
      #expect(Set(try await stage.runWorker()).isSuperset(of: 81...100))
    }
  }

  @Test("After the first success of a probe, new messages do not wait for its other message")
  func recovered() async throws {
    try await Stage.run(concurrency: 2) { stage in
      stage.receiver.answers { _ in .success(.status(500)) }
      for number in 1...5 { try await stage.append("c\(number)") }
      #expect(try await stage.runWorker().count == 5)
      let (gate, opener) = AsyncStream.makeStream(of: Void.self)
      stage.receiver.pauses { if $0.sequence == 1 { for await _ in gate {} } }
      stage.receiver.answers { _ in .success(.status(200)) }
      stage.clock.advance(by: .seconds(60))
      try await stage.append("probe", "next")
      let run = Task { try await stage.worker.run() }
      try await stage.awaitRequests(2)
      opener.finish()
      _ = try await run.value
      #expect(stage.receiver.takeRequests().first?.sequence == 6)
    }
  }

  @Test("A probe passes the messages of a customer whose earlier one is pending a page at a time")
  func blocked() async throws {
    try await Stage.run { stage in
      let store = RefusingStore(stage.store)
      let worker = stage.restarted(over: store)
      stage.receiver.answers { _ in .success(.status(500)) }
      for number in 1...5 { try await stage.append("c\(number)") }
      _ = try await worker.run()
      stage.clock.advance(by: .seconds(60))
      try await stage.append(Array(repeating: "c2", count: 1_000) + ["probe", "other"])
      _ = stage.receiver.takeRequests()
      let writes = store.writes
      _ = try await worker.run()
      #expect(stage.receiver.takeRequests().map(\.sequence).sorted() == [1, 1_006])
      #expect(store.writes - writes < 20)
      #expect(try await stage.status().cursor.position == 1_006)
    }
  }

  @Test("A webhook that is resumed while a message is in flight stays resumed")
  func resumedInFlight() async throws {
    try await Stage.run(concurrency: 2) { stage in
      let (gate, opener) = AsyncStream.makeStream(of: Void.self)
      stage.receiver.pauses { if $0.sequence == 2 { for await _ in gate {} } }
      stage.receiver.answers { .success(.status($0.sequence == 1 ? 410 : 500)) }
      try await stage.append("ana", "ben")
      let run = Task { try await stage.worker.run() }
      while try await stage.status().cursor.goneAt == nil { try await Task.sleep(for: .milliseconds(5)) }
      #expect(try await stage.admin.resume(stage.settings).cursor.goneAt == nil)
      opener.finish()
      _ = try await run.value
      #expect(try await stage.status().cursor.goneAt == nil)
      #expect(try await stage.status().counts.pending == 2)
    }
  }

  @Test("The lag is that of the oldest message, also if it waits in the log")
  func lag() async throws {
    let metrics = TestMetrics.ofProcess
    try await Stage.run("slow") { stage in
      let (gate, opener) = AsyncStream.makeStream(of: Void.self)
      let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
      stage.receiver.pauses { _ in
        arrival.finish()
        for await _ in gate {}
      }
      try await stage.append("ana", "ben", "cem")
      let run = Task { try await stage.worker.run() }
      for await _ in arrivals {}
      stage.clock.advance(by: .seconds(7_200))
      _ = try await stage.worker.recordProgress()
      let labels = [("app", "ocean"), ("kind", "events"), ("webhook", "slow")]
      #expect(try metrics.expectGauge("entitled_webhook_delivery_lag_seconds", labels).lastValue == 7_200)
      opener.finish()
      _ = try await run.value
    }
  }
}
