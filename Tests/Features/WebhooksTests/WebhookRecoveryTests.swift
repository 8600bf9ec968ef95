import AppStoreClient
import Store
import Synchronization
import TestSupport
import Testing

@testable import Webhooks

/// What a webhook gets that demands a pause, is down, or recovers.
@Suite struct WebhookRecoveryTests {
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
}
