internal import Logging
internal import Services

/// Where calls that changed something are written down: a log of its own, so that it can be kept elsewhere and
/// longer than the others.
struct AuditLog: Sendable {
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  func write(_ record: AuditRecord) {
    var metadata: Logger.Metadata = [
      "caller": .string(record.caller.isEmpty ? "-" : record.caller), "method": .string(record.method),
      "outcome": .string(record.outcome),
    ]
    if !record.apps.isEmpty { metadata["app"] = .string(record.apps.joined(separator: ",")) }
    if !record.customers.isEmpty { metadata["customer"] = .array(record.customers.map { .string($0) }) }
    if !record.actor.isEmpty { metadata["actor"] = .string(record.actor) }
    logger.info("call", metadata: metadata)
  }
}
