import Store
import TestSupport
import Testing

@testable import Webhooks

/// What a webhook gets that demands a pause, is down, or recovers.
@Suite struct WebhookRecoveryTests {
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
