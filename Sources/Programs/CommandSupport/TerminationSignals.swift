internal import UnixSignals

/// The signals that ask a process to end, trapped as long as ``trapped(_:)`` runs.
package struct TerminationSignals: Sendable {
  private let signals: UnixSignalsSequence

  /// Traps SIGTERM and SIGINT while `body` runs: neither the first one nor another one during the drain ends the process.
  package static func trapped<Result>(
    _ body: (TerminationSignals) async throws -> Result
  ) async rethrows -> Result {
    let signals = TerminationSignals(signals: await UnixSignalsSequence(trapping: .sigterm, .sigint))
    defer { withExtendedLifetime(signals) {} }
    return try await body(signals)
  }

  /// Returns after the first signal, also one that arrived before the call, and when its task is cancelled.
  package func wait() async {
    for await _ in signals { return }
  }
}
