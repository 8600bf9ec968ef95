internal import AppStore
internal import CommandSupport
internal import Configuration
internal import Foundation
internal import Ledger
internal import Logging
internal import Platform
internal import Services
internal import Store
internal import Telemetry

/// Writes the logs to the standard error, one event a line. A reader that does not keep up loses lines instead of
/// stopping the service; they are counted and reported.
enum Logs {
  /// Must be called once, before the first logger is created. `ENTITLED_LOG_FORMAT` and `ENTITLED_LOG_LEVEL` override
  /// the configuration.
  static func bootstrap(_ configuration: LogConfiguration) throws {
    let format: LineLogHandler.Format = try choice("ENTITLED_LOG_FORMAT", or: configuration.format.rawValue)
    let level: Logger.Level = try choice("ENTITLED_LOG_LEVEL", or: configuration.level.rawValue)
    LoggingSystem.bootstrap { label in
      LineLogHandler(label: label, format: format, level: level, now: timestamp) { output.write($0) }
    }
    atexit { Logs.output.flush() }
  }

  /// The value of an environment variable, or the configured one.
  private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ variable: String, or configured: String
  ) throws -> Choice {
    let text = ServerOption.environment(variable) ?? configured
    guard let choice = Choice(rawValue: text) else {
      let values = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure("\(variable) takes one of \(values), not '\(text)'", status: 64)
    }
    return choice
  }

  /// The current time in RFC 3339, UTC, with milliseconds.
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

  /// The number of log lines that were not written so far.
  static var lostLines: Int { output.lostLines }

  /// The standard error. Its reader may stop reading, which must not stop the event loops.
  private static let output = LineWriter(STDERR_FILENO) { count in
    Logger(label: "entitled").warning("log lines dropped", metadata: ["lines": .stringConvertible(count)])
  }
}

/// Logs mutating calls to `entitled.audit`, which can be stored separately, and calls that failed in the service to
/// `entitled.calls`.
struct AuditLogger: Sendable {
  private static let erasureMethod = "/entitled.v1.EntitlementService/EraseCustomer"

  /// Makes the aliases of customers.
  let erasures: ErasureList
  /// Whether customers are logged by id; otherwise by alias.
  let showsCustomers: Bool
  private let audit = Logger(label: "entitled.audit")
  private let failures = Logger(label: "entitled.calls")

  /// Logs a call: one that mutates to the audit log, another one only if it failed in the service.
  func write(_ record: AuditRecord) {
    var metadata: Logger.Metadata = [
      "caller": .string(record.caller.isEmpty ? "-" : record.caller), "method": .string(record.method),
      "outcome": .string(record.outcome), "trace_id": .string(record.trace.traceID),
      "request_id": .string(record.trace.requestID),
    ]
    if !record.apps.isEmpty { metadata["app"] = .string(record.apps.joined(separator: ",")) }
    // An erasure must not write the id that it erases.
    let isShown = showsCustomers && record.method != Self.erasureMethod
    let names = record.customers.map { isShown ? $0 : erasures.alias(of: $0, apps: record.apps) }
    if !names.isEmpty { metadata["customer"] = .array(names.map { .string($0) }) }
    if !record.actor.isEmpty {
      metadata["actor"] = .string(record.actor.replacingActors(record.customers, with: names))
    }
    if !record.reason.isEmpty { metadata["reason"] = .string(record.reason) }
    if !record.error.isEmpty { metadata["error"] = .string(record.error) }
    if record.mutates {
      audit.info("call", metadata: metadata)
    } else {
      // The store logs a full disk once, with what to do; a line for each call would bury that one.
      let isDiskFull = record.error.hasPrefix(StoreError.diskFull.description)
      failures.log(level: isDiskFull ? .debug : .warning, "call failed", metadata: metadata)
    }
  }

  /// Logs a claim that was made with the `appAccountToken` of another customer.
  func write(_ conflict: TokenConflict) {
    let customers = [conflict.claimant, conflict.tokenOwner]
    let names = customers.map { showsCustomers ? $0 : erasures.alias(of: $0, apps: [conflict.line.appID]) }
    var metadata: Logger.Metadata = [
      "app": .string(conflict.line.appID), "environment": .string(conflict.line.environment.rawValue),
      "purchase": .string(conflict.line.lineID), "customer": .string(names[0]),
      "token_customer": .string(names[1]),
    ]
    if !conflict.actor.isEmpty {
      metadata["actor"] = .string(conflict.actor.replacingActors(customers, with: names))
    }
    audit.warning("claim with the token of another customer", metadata: metadata)
  }
}
