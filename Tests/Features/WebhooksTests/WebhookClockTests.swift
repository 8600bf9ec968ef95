import AppStore
import AppStoreClient
import Store
import TestSupport
import Testing

@testable import Webhooks

@Suite struct WebhookClockTests {
  @Test(
    "After a clock that was ahead is set back, a failed message is retried on its schedule",
    arguments: [false, true])
  func setBack(isRestarted: Bool) async throws {
    try await Stage.run { stage in
      let jump = Duration.milliseconds(300 * Instant.millisecondsPerDay)
      stage.clock.advance(by: jump)
      stage.receiver.answers { _ in .success(.status(500)) }
      try await stage.append("ana")
      #expect(try await stage.runWorker() == [1])
      stage.clock.advance(by: Duration.zero - jump)
      let worker = isRestarted ? stage.restarted() : stage.worker
      // A new worker notices it at the end of its first run.
      _ = try await worker.run()
      _ = try await worker.run()
      #expect(stage.receiver.takeRequests().map(\.sequence) == [1])
      stage.receiver.answers { _ in .success(.status(200)) }
      stage.clock.advance(by: .milliseconds(10_000))
      _ = try await worker.run()
      #expect(stage.receiver.takeRequests().map(\.sequence) == [1])
      #expect(try await stage.status().counts.pending == 0)
    }
  }
}
