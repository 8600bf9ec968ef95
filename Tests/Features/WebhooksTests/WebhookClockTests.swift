import AppStore
import AppStoreClient
import Store
import TestSupport
import Testing

@testable import Webhooks

@Suite struct WebhookClockTests {
  @Test(
    "After a clock that was ahead is set back, a failed message is retried on its schedule",
    arguments: [(false, Duration.seconds(7_200)), (true, .seconds(300 * 86_400))])
  func setBack(isRestarted: Bool, jump: Duration) async throws {
    try await Stage.run { stage in
      stage.clock.advance(by: jump)
      stage.receiver.answers { _ in .success(.status(500)) }
      try await stage.append("ana")
      #expect(try await stage.runWorker() == [1])
      stage.clock.advance(by: Duration.zero - jump)
      let worker = isRestarted ? stage.restarted() : stage.worker
      // A new worker notices it at the end of its first run, by a delay that no schedule has.
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

  @Test("A clock that is set back while a message is in flight makes the others due")
  func setBackInFlight() async throws {
    try await Stage.run(concurrency: 2) { stage in
      let (gate, opener) = AsyncStream.makeStream(of: Void.self)
      stage.receiver.pauses { if $0.sequence == 2 { for await _ in gate {} } }
      stage.receiver.answers { _ in .success(.status(500)) }
      stage.clock.advance(by: .seconds(7_200))
      try await stage.append("ana")
      #expect(try await stage.runWorker() == [1])
      try await stage.append("slow")
      let run = Task { try await stage.worker.run() }
      try await stage.awaitPending(2)
      stage.clock.advance(by: .seconds(-7_200))
      try await stage.awaitRequests(1)
      #expect(stage.receiver.takeRequests().map(\.sequence) == [1])
      opener.finish()
      _ = try await run.value
    }
  }

  @Test("A webhook that is down is probed once a minute also after the clock was set back")
  func setBackWhileDown() async throws {
    try await Stage.run { stage in
      stage.receiver.answers { _ in .success(.status(500)) }
      for number in 1...9 { try await stage.append("c\(number)") }
      #expect(try await stage.runWorker().count == 5)
      stage.clock.advance(by: .seconds(-7_200))
      #expect(try await stage.worker.run() == 60_000)
      #expect(stage.receiver.takeRequests().count == 1)
      #expect(try await stage.runWorker().isEmpty)
    }
  }
}
