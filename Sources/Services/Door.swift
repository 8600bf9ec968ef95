package import AppStore
package import Callers

/// Who may call the services, and who is told of what they do.
package struct Door: Sendable {
  let callers: CurrentCallers
  let now: @Sendable () -> Instant
  let ticks: @Sendable () -> Int64
  let audit: @Sendable (AuditRecord) -> Void

  /// A door by its parts.
  ///
  /// - Parameters:
  ///   - callers: who is let in.
  ///   - now: the time by which signed tokens are judged; not a sandbox's, since others sign them.
  ///   - ticks: nanoseconds of a clock that only goes forward.
  ///   - audit: is told of every call that changes something or was refused to. It must not wait.
  package init(
    callers: CurrentCallers, now: @escaping @Sendable () -> Instant, ticks: @escaping @Sendable () -> Int64,
    audit: @escaping @Sendable (AuditRecord) -> Void
  ) {
    self.callers = callers
    self.now = now
    self.ticks = ticks
    self.audit = audit
  }
}
