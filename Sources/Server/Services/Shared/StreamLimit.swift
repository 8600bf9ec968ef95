internal import RPC
internal import Synchronization

/// Limits the streams of events that one caller has at the same time, over all its connections: each costs memory until
/// it ends, and the caller decides when that is.
package final class StreamLimit: Sendable {
  /// The key of the limit in the configuration.
  private static let name = "max_watch_streams_per_caller"

  private let limit: Int
  private let counts = Mutex<[String: Int]>([:])

  /// `limit` is the number of streams of one caller; the default is that of the configuration.
  package init(_ limit: Int = 1_000) { self.limit = limit }

  /// The number of streams of all callers.
  var count: Int { counts.withLock { $0.values.reduce(0, +) } }

  /// Runs a stream of the caller of `call`, which counts until `body` returns or throws.
  ///
  /// - Throws: `RESOURCE_EXHAUSTED` with the reason `TOO_MANY_STREAMS` without running `body`; the error of `body`.
  func run(_ call: CallContext, _ body: () async throws(Status) -> Void) async throws(Status) {
    try begin(call.caller)
    defer { end(call.caller) }
    try await body()
  }

  private func begin(_ caller: String) throws(Status) {
    let isBelowLimit = counts.withLock { counts in
      let count = counts[caller, default: 0]
      guard count < limit else { return false }
      counts[caller] = count + 1
      return true
    }
    guard !isBelowLimit else { return }
    throw Status(
      .resourceExhausted, reason: "TOO_MANY_STREAMS",
      "this caller has \(limit) streams of events, the limit \(Self.name); end some of them",
      metadata: [("limit", Self.name)], retryAfterMilliseconds: 10_000)
  }

  /// Ends a stream. A caller without streams leaves no entry.
  private func end(_ caller: String) {
    counts.withLock { counts in
      let count = counts[caller, default: 0]
      counts[caller] = count > 1 ? count - 1 : nil
    }
  }
}
