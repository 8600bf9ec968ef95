import Logging
import Synchronization
import Testing

@testable import Platform

@Suite("Worker supervisor")
struct WorkerSupervisorTests {
  /// Time that passes only while the supervisor sleeps or a worker runs.
  private final class ManualClock: Sendable {
    private struct State {
      var now = ContinuousClock.now
      var delays: [Duration] = []
    }

    private let state = Mutex(State())

    var delays: [Duration] { state.withLock(\.delays) }

    func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    func supervisor() -> WorkerSupervisor {
      WorkerSupervisor(
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        backoff: .init(first: .seconds(1), max: .seconds(4), resetAfter: .seconds(60)),
        now: { self.state.withLock(\.now) },
        sleep: { duration in
          try Task.checkCancellation()
          self.state.withLock {
            $0.delays.append(duration)
            $0.now += duration
          }
        })
    }
  }

  private struct Failure: Error {}

  /// Fails a number of times, and then returns.
  private final class FailingWorker: Worker {
    let name = "failing"
    private let clock: ManualClock
    private let remaining: Mutex<[Duration]>

    /// Runs for each duration and fails after it.
    init(_ clock: ManualClock, failingAfter durations: [Duration]) {
      self.clock = clock
      remaining = Mutex(durations)
    }

    func run() async throws {
      let duration = remaining.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      guard let duration else { return }
      clock.advance(by: duration)
      throw Failure()
    }
  }

  @Test("A failing worker is restarted with doubling delays up to the maximum")
  func backoff() async {
    let clock = ManualClock()
    let durations = [Duration](repeating: .zero, count: 5)
    await clock.supervisor().run(FailingWorker(clock, failingAfter: durations))
    #expect(clock.delays == [.seconds(1), .seconds(2), .seconds(4), .seconds(4), .seconds(4)])
  }

  @Test("The delay starts again at the minimum after a long run")
  func reset() async {
    let clock = ManualClock()
    let durations: [Duration] = [.zero, .zero, .seconds(60), .seconds(59)]
    await clock.supervisor().run(FailingWorker(clock, failingAfter: durations))
    #expect(clock.delays == [.seconds(1), .seconds(2), .seconds(1), .seconds(2)])
  }

  @Test("A worker that returns is not restarted")
  func end() async {
    let clock = ManualClock()
    await clock.supervisor().run(FailingWorker(clock, failingAfter: []))
    #expect(clock.delays.isEmpty)
  }

  /// Counts its runs, and fails each time it is cancelled.
  private final class WaitingWorker: Worker {
    let name = "waiting"
    private let runs = Mutex(0)

    var count: Int { runs.withLock { $0 } }

    func run() async throws {
      runs.withLock { $0 += 1 }
      try await Task.sleep(for: .seconds(600))
    }
  }

  @Test("A cancelled supervisor ends its workers without a restart")
  func cancellation() async {
    let clock = ManualClock()
    let workers = [WaitingWorker(), WaitingWorker()]
    let running = Task { await clock.supervisor().run(workers) }
    while workers.contains(where: { $0.count == 0 }) { await Task.yield() }
    running.cancel()
    await running.value
    #expect(workers.map(\.count) == [1, 1])
    #expect(clock.delays.isEmpty)
  }

  @Test("The failure of one worker does not affect the others")
  func independence() async {
    let clock = ManualClock()
    let failing = FailingWorker(clock, failingAfter: [.zero, .zero])
    let waiting = WaitingWorker()
    let running = Task { await clock.supervisor().run([failing, waiting]) }
    while clock.delays.count < 2 || waiting.count == 0 { await Task.yield() }
    running.cancel()
    await running.value
    #expect(waiting.count == 1)
  }
}
