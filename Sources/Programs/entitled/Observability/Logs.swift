internal import Configuration
internal import Foundation
internal import Logging
internal import Telemetry

/// Where the program's logs go: the standard error, one event a line.
enum Logs {
  /// Must be called once, before the first logger is made. Environment variables go before the configuration.
  static func begin(_ configuration: LogConfiguration) throws {
    let format: LineLogHandler.Format = try choice("ENTITLED_LOG_FORMAT", or: configuration.format.rawValue)
    let level: Logger.Level = try choice("ENTITLED_LOG_LEVEL", or: configuration.level.rawValue)
    LoggingSystem.bootstrap { label in
      LineLogHandler(label: label, format: format, level: level, now: timestamp, write: write)
    }
  }

  private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ variable: String, or configured: String
  ) throws -> Choice {
    let text = ServerOption.environment(variable) ?? configured
    guard let choice = Choice(rawValue: text) else {
      let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure("\(variable) takes one of \(known), not '\(text)'", status: 64)
    }
    return choice
  }

  /// RFC 3339, in UTC, with milliseconds.
  private static let timestamp: @Sendable () -> String = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    var parts = tm()
    gmtime_r(&time.tv_sec, &parts)
    var text = [CChar](repeating: 0, count: 32)
    strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
    let milliseconds = String(1_000 + time.tv_nsec / 1_000_000).dropFirst()
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      + ".\(milliseconds)Z"
  }

  /// One system call for each line, so that lines of several threads do not mix.
  private static let write: @Sendable (String) -> Void = { line in
    var line = line
    line.withUTF8 { bytes in _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
  }
}
