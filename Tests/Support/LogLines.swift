package import Logging
internal import Synchronization

/// A log handler that collects its lines, each as `LEVEL MESSAGE [KEY: VALUE, …]` with the keys in alphabetical order.
package final class LogLines: LogHandler {
  private let lines = Mutex<[String]>([])

  package init() {}

  /// The lines, oldest first.
  package var all: [String] { lines.withLock { $0 } }

  /// A logger whose lines are collected.
  package var logger: Logger { Logger(label: "test") { _ in self } }

  package var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  package var logLevel: Logger.Level {
    get { .trace }
    set {}
  }

  package subscript(metadataKey _: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }

  package func log(event: LogEvent) {
    let metadata = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    lines.withLock { $0.append("\(event.level) \(event.message) [\(metadata.joined(separator: ", "))]") }
  }
}
