import Logging
import Store
import Synchronization
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct DiskFullLogTests {
  /// Collects log lines.
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
  }

  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.all.withLock { $0.append("\(event.level) \(event.message) \(event.metadata?["action"] ?? "")") }
    }
  }

  @Test(
    "A full disk is logged once with what to do, although small writes succeed meanwhile, and once when it is over"
  )
  func once() {
    let lines = Lines()
    var log = DiskFullLog(path: "/data", logger: Logger(label: "test") { _ in Handler(lines: lines) })
    let start = ContinuousClock.now
    for second in 0..<100 {
      log.record(second % 2 == 0 ? .diskFull : nil, at: start + .seconds(second))
    }
    #expect(lines.all.withLock { $0.count } == 1)
    #expect(lines.all.withLock { $0[0] }.hasPrefix("warning disk full, writes are refused free space"))
    log.record(nil, at: start + .seconds(200))
    log.record(nil, at: start + .seconds(300))
    #expect(lines.all.withLock { $0.dropFirst().map(\.self) } == ["notice disk has space again "])
    log.record(.failed("other"), at: start + .seconds(400))
    log.record(.diskFull, at: start + .seconds(500))
    #expect(lines.all.withLock { $0.count } == 3)
  }
}
