import AppStore
import AppStoreClient
import JSON
import Logging
import MetricsTestKit
import Platform
import Store
import Synchronization
import TestSupport
import Testing

@testable import Webhooks

@Suite struct WebhookWorkerTests {
  @Test("Events are sent once, signed, in the format of the API, and the cursor is stored")
  func delivered() async throws {
    try await Stage.run { stage in
      try await stage.append("ana", "ben")
      _ = try await stage.worker.run()
      let sent = stage.receiver.takeRequests()
      #expect(sent.map(\.sequence) == [1, 2])
      let first = try #require(sent.first)
      #expect(first.header("webhook-id") == "evt_ocean_1_1000000")
      #expect(first.header("webhook-timestamp") == "1000")
      #expect(first.header("webhook-signature")?.hasPrefix("v1,") == true)
      #expect(
        String(decoding: first.body, as: UTF8.self)
          == #"{"type":"entitlement.started","timestamp":"1970-01-01T00:16:40.000Z","data":"1 ana"}"#)
      #expect(try await stage.status().cursor == WebhookCursor(position: 2))
      #expect(try await stage.runWorker().isEmpty)
      #expect(stage.settings.redactedURL == "https://example.com/")
    }
  }

  @Test("A webhook that selects more kinds after a change of the configuration gets no earlier events")
  func widened() async throws {
    try await Stage.run(kinds: [.ended]) { stage in
      try await stage.append("ana", "ben", "cleo")
      // Nothing shows that the worker has passed the events before it ends, so it gets longer until it has.
      var time = Duration.milliseconds(1)
      while try await stage.status().cursor.position < 3, time < .seconds(60) {
        let running = Task { [dispatcher = stage.dispatcher] in await dispatcher.run() }
        try await Task.sleep(for: time)
        running.cancel()
        await running.value
        time *= 2
      }
      let all = WebhookSettings(
        key: stage.settings.key, url: "https://example.com/",
        secrets: [WebhookSecret(key: [UInt8](repeating: 7, count: 24))], schedule: RetrySchedule(delays: [10])
      )
      let widened = WebhookWorker(
        all, source: stage.dispatcher.source(of: all), exchange: stage.receiver, store: stage.store,
        now: { [clock = stage.clock] in clock.now })
      _ = try await widened.run()
      #expect(stage.receiver.takeRequests().map(\.sequence).isEmpty)
      try await stage.append("dora")
      _ = try await widened.run()
      #expect(stage.receiver.takeRequests().map(\.sequence) == [4])
    }
  }

  @Test("A new webhook gets later events of the selected kinds only")
  func filtered() async throws {
    try await Stage.run(kinds: [.ended]) { stage in
      try await stage.append("ana")
      try await stage.append("ana", kind: .ended)
      #expect(try await stage.runWorker() == [2])
      let other = WebhookDispatcher(
        [WebhookSettings(key: WebhookKey(appID: "ocean", kind: .events, name: "new"), url: "https://e.com")],
        store: stage.store, exchange: stage.receiver,
        supervisor: WorkerSupervisor(logger: Logger(label: "test")), now: { instant(0) },
        encode: { _ in .null })
      try await other.begin()
      let key = try #require(other.settings.first?.key)
      #expect(try await stage.store.snapshot { try $0.cursor(of: key) } == WebhookCursor(position: 2))
      try await stage.append("ana")
      let admin = DeliveryAdmin(other, store: stage.store, now: { instant(0) })
      let states = try await stage.store.snapshot { reader throws in
        try reader.events(ofApp: "ocean", after: 0, limit: 9).flatMap { try admin.states(of: $0, in: reader) }
      }
      #expect(states.map(\.sequence) == [3], "an event from before the webhook has no delivery")
    }
  }

  @Test("A webhook without a cursor, configured during a takeover, begins with the next event")
  func withoutCursor() async throws {
    try await Stage.run { stage in
      try await stage.append("ana")
      let settings = WebhookSettings(
        key: WebhookKey(appID: "ocean", kind: .events, name: "new"), url: "https://e.com",
        secrets: [WebhookSecret(key: [UInt8](repeating: 7, count: 24))])
      let worker = WebhookWorker(
        settings, source: stage.dispatcher.source(of: settings), exchange: stage.receiver, store: stage.store,
        now: { [clock = stage.clock] in clock.now })
      _ = try await worker.run()
      #expect(stage.receiver.takeRequests().isEmpty)
      try await stage.append("ben")
      _ = try await worker.run()
      #expect(stage.receiver.takeRequests().map(\.sequence) == [2])
    }
  }

  @Test("A failing event delays only its customer's events, which keep their order")
  func order() async throws {
    try await Stage.run { stage in
      stage.receiver.answers { .success(.status($0.sequence == 1 ? 500 : 200)) }
      try await stage.append("ana", "ben", "ana", "ben")
      #expect(try await stage.runWorker() == [1, 2, 4])
      try await stage.append("ana", "cem")
      #expect(try await stage.runWorker() == [6])
      stage.clock.advance(by: .milliseconds(10_000))
      #expect(try await stage.runWorker() == [1])
      stage.receiver.answers { _ in .success(.status(204)) }
      #expect(try await stage.runWorker().isEmpty)
      stage.clock.advance(by: .milliseconds(100_000))
      #expect(try await stage.runWorker() == [1, 3, 5])
      #expect(
        try await stage.status().counts == DeliveryCounts(pending: 0, deadLetters: 0, oldestPendingAt: nil))
    }
  }

  @Test("Ids that differ only in Unicode normalization are other customers, whose events are retried")
  func normalization() async throws {
    try await Stage.run { stage in
      stage.receiver.answers { _ in .success(.status(500)) }
      try await stage.append("Jos\u{E9}", "Jose\u{301}")
      #expect(Set(try await stage.runWorker()) == [1, 2])
      stage.receiver.answers { _ in .success(.status(200)) }
      stage.clock.advance(by: .milliseconds(10_000))
      #expect(Set(try await stage.runWorker()) == [1, 2])
    }
  }

  @Test("A restarted worker resumes at the cursor and retries pending deliveries")
  func restart() async throws {
    try await Stage.run { stage in
      stage.receiver.answers { .success(.status($0.sequence == 1 ? 503 : 200)) }
      try await stage.append("ana", "ben", "ana")
      #expect(try await stage.runWorker() == [1, 2])
      stage.receiver.answers { _ in .success(.status(200)) }
      stage.clock.advance(by: .milliseconds(10_000))
      _ = try await stage.restarted().run()
      #expect(stage.receiver.takeRequests().map(\.sequence) == [1, 3])
    }
  }

  @Test("A dead letter does not hold back later messages, is listed, and is delivered when it is resent")
  func deadLetter() async throws {
    try await Stage.run(delays: [10]) { stage in
      stage.receiver.answers { .success(.status($0.sequence == 1 ? 400 : 200)) }
      try await stage.append("ana", "ana")
      #expect(try await stage.runWorker() == [1])
      stage.clock.advance(by: .milliseconds(10_000))
      #expect(try await stage.runWorker() == [1, 2])
      let dead = try await stage.store.snapshot {
        try $0.deliveries(
          of: stage.settings.key, in: .deadLetter, after: 0, limit: 9)
      }
      #expect(dead.map(\.position) == [1])
      #expect(dead.first?.outcome == "status 400")
      #expect(dead.first?.attempts == 2)
      stage.receiver.answers { _ in .success(.status(200)) }
      #expect(
        try await stage.resend(.deadLetters) == .init(count: 1, nextPosition: nil))
      #expect(try await stage.runWorker() == [1])
      #expect(try await stage.status().counts.deadLetters == 0)
    }
  }

  @Test("Old messages can be resent by position or by range, and arrive in order")
  func resent() async throws {
    try await Stage.run { stage in
      try await stage.append("ana", "ben", "ana", "ana")
      _ = try await stage.runWorker()
      #expect(try await stage.resend(.positions([4, 1, 4, 77, 0, .min]))?.count == 2)
      #expect(try await stage.runWorker() == [1, 4])
      #expect(try await stage.resend(.range(2...3))?.count == 2)
      #expect(Set(try await stage.runWorker()) == [2, 3])
    }
  }

  @Test("A webhook that returned 410 gets no messages until it is resumed, and then all of them")
  func gone() async throws {
    try await Stage.run { stage in
      stage.receiver.answers { _ in .success(.status(410)) }
      try await stage.append("ana", "ben")
      #expect(try await stage.runWorker() == [1])
      try await stage.append("cem")
      #expect(try await stage.runWorker().isEmpty)
      #expect(try await stage.status().cursor.goneAt == stage.clock.now)
      stage.receiver.answers { _ in .success(.status(200)) }
      #expect(try await stage.admin.resume(stage.settings).cursor.goneAt == nil)
      #expect(try await stage.runWorker().sorted() == [1, 2, 3])
    }
  }

  @Test("A webhook that is gone has a metric in each process that serves it, until it is resumed")
  func goneMetric() async throws {
    // Before the first metric is made; no other test has a webhook of this name.
    let metrics = TestMetrics.ofProcess
    try await Stage.run("gone") { stage in
      func isGone() -> Double? {
        let labels = [("app", "ocean"), ("kind", "events"), ("webhook", "gone")]
        return try? metrics.expectGauge("entitled_webhook_gone", labels).lastValue
      }
      try await stage.store.write {
        [key = stage.settings.key, now = stage.clock.now] store throws(StoreError) in
        try store.stop(key, at: now)
      }
      _ = try await stage.restarted().run()
      #expect(isGone() == 1)
      _ = try await stage.admin.resume(stage.settings)
      _ = try await stage.restarted().run()
      #expect(isGone() == 0)
      stage.receiver.answers { _ in .success(.status(410)) }
      try await stage.append("ana")
      let service = Task { await stage.dispatcher.run() }
      for _ in 1...2_000 where isGone() != 1 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(isGone() == 1)
      service.cancel()
      await service.value
      #expect(isGone() == 0, "this process serves it no longer")
    }
  }

  @Test("A webhook that is down is probed once a minute and gets its backlog after recovery")
  func down() async throws {
    try await Stage.run(delays: [10, 86_400]) { stage in
      stage.receiver.answers { _ in .failure(.unreachable("refused")) }
      for number in 1...40 { try await stage.append("c\(number)") }
      #expect(try await stage.runWorker().count == 5)
      let failed = try await stage.store.snapshot {
        try $0.deliveries(of: stage.settings.key, in: .pending, after: 0, limit: 1)
      }
      #expect(failed.first?.outcome == "connection failed: refused")
      stage.clock.advance(by: .milliseconds(59_000))
      for number in 41...50 { try await stage.append("c\(number)") }
      #expect(try await stage.runWorker().isEmpty)
      stage.clock.advance(by: .milliseconds(1_000))
      // The oldest due message and one new one; the rest stays in the log.
      #expect(try await stage.runWorker() == [1, 41])
      #expect(try await stage.status().cursor.position == 41)
      stage.receiver.answers { _ in .success(.status(200)) }
      stage.clock.advance(by: .milliseconds(60_000))
      #expect(Set(try await stage.runWorker()) == Set(1...50))
      #expect(try await stage.status().counts.pending == 0)
    }
  }

  @Test("A message that waits when its customer is erased is sent after the recovery")
  func erasedMeanwhile() async throws {
    try await Stage.run(kinds: [.started]) { stage in
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
      try await stage.append("c1", "c2", "c3", "c4", "c5", "ana")
      stage.receiver.answers { _ in .failure(.timedOut) }
      stage.receiver.pauses { [store = stage.store] _ in
        _ = try? await store.write { transaction throws(StoreError) in
          try transaction.erase(ana, as: "erased-1")
        }
      }
      #expect(try await stage.runWorker() == [1, 2, 3, 4, 5])
      stage.receiver.answers { _ in .success(.status(200)) }
      stage.clock.advance(by: .milliseconds(60_000))
      #expect(Set(try await stage.runWorker()) == Set(1...6))
      #expect(try await stage.status().counts.pending == 0)
    }
  }

  @Test("Retry-After delays all deliveries to a webhook")
  func retryAfter() async throws {
    try await Stage.run { stage in
      stage.receiver.answers { _ in .success(.status(429, [("retry-after", "30")])) }
      try await stage.append("ana", "ben")
      #expect(try await stage.runWorker() == [1])
      stage.receiver.answers { _ in .success(.status(200)) }
      stage.clock.advance(by: .milliseconds(29_000))
      #expect(try await stage.runWorker().isEmpty)
      stage.clock.advance(by: .milliseconds(1_000))
      #expect(try await stage.runWorker().sorted() == [1, 2])
    }
  }

  @Test(
    "A Retry-After delays a delivery for a day at most",
    arguments: ["Fri, 31 Dec 9999 23:59:59 GMT", "999999"])
  func farRetryAfter(value: String) async throws {
    try await Stage.run { stage in
      stage.receiver.answers { _ in .success(.status(429, [("retry-after", value)])) }
      try await stage.append("ana")
      #expect(try await stage.runWorker() == [1])
      stage.receiver.answers { _ in .success(.status(200)) }
      stage.clock.advance(by: .seconds(86_400))
      #expect(try await stage.runWorker() == [1])
    }
  }

  @Test("A Retry-After that is no delay is ignored", arguments: ["-1", "soon", ""])
  func malformedRetryAfter(value: String) async throws {
    try await Stage.run { stage in
      stage.receiver.answers { _ in .success(.status(503, [("retry-after", value)])) }
      try await stage.append("ana")
      #expect(try await stage.runWorker() == [1])
      stage.receiver.answers { _ in .success(.status(200)) }
      stage.clock.advance(by: .seconds(10))
      #expect(try await stage.runWorker() == [1])
    }
  }

  @Test(
    "An unreliable receiver accepts all events of each customer in order",
    arguments: 1...UInt64(12))
  func property(seed: UInt64) async throws {
    try await Stage.run(delays: [10, 100, 1_000, 10_000, 100_000], concurrency: 4) { stage in
      var random = SplitMix64(state: seed)
      var customersOfEvents: [String] = []
      let accepted = AcceptedSequences()
      for _ in 0..<30 {
        let customers = (0..<Int(random.next() % 6)).map { _ in "c\(random.next() % 5)" }
        for customer in customers { try await stage.append(customer) }
        customersOfEvents += customers
        let seedOfRound = random.next()
        stage.receiver.answers { request in
          guard (seedOfRound &+ UInt64(request.sequence) &* 2_654_435_761) % 7 < 3 else {
            accepted.record(request.sequence)
            return .success(.status(200))
          }
          return seedOfRound % 2 == 0 ? .success(.status(500)) : .failure(.timedOut)
        }
        // Responses interleave with reads and writes of the worker, and with an operator who resends a message once.
        let isResent = Atomic(false)
        let (cursor, resent) = (UInt64(try await stage.status().cursor.position), random.next())
        stage.receiver.pauses { request in
          let number = seedOfRound &+ UInt64(request.sequence)
          for _ in 0..<number % 5 { await Task.yield() }
          guard number % 8 == 0, cursor > 0, !isResent.exchange(true, ordering: .relaxed) else { return }
          _ = try? await stage.resend(.positions([Int64(resent % cursor) + 1]))
        }
        _ = try await random.next() % 4 == 0 ? stage.restarted().run() : stage.worker.run()
        stage.clock.advance(by: .milliseconds(Int64(random.next() % 70_000)))
      }
      stage.receiver.answers { request in
        accepted.record(request.sequence)
        return .success(.status(200))
      }
      for _ in 0..<3 {
        stage.clock.advance(by: .milliseconds(3_600_000))
        _ = try await stage.restarted().run()
      }
      let firsts = accepted.firsts
      #expect(firsts.sorted() == Array(customersOfEvents.indices).map { Int64($0 + 1) })
      for customer in Set(customersOfEvents) {
        let own = firsts.filter { customersOfEvents[Int($0) - 1] == customer }
        #expect(own == own.sorted())
      }
    }
  }
}

/// The events that a receiver accepted, in the order of their first delivery.
private final class AcceptedSequences: Sendable {
  private let sequences = Mutex<[Int64]>([])

  var firsts: [Int64] { sequences.withLock { $0 } }

  func record(_ sequence: Int64) {
    sequences.withLock { if !$0.contains(sequence) { $0.append(sequence) } }
  }
}
