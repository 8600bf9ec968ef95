internal import Synchronization

/// The budgets of one app in one environment, one for each kind of call.
final class RateLimiter: Sendable {
  private struct Queue {
    var bucket: TokenBucket
    /// Who waits, by the order in which they came.
    var waiting: [(ticket: UInt64, priority: CallPriority)] = []
  }

  private struct State {
    var lines: [Endpoint: Queue] = [:]
    var nextTicket: UInt64 = 0
  }

  private let share: Double
  private let clock: ClientClock
  private let state = Mutex(State())

  /// Budgets of `share` of what Apple allows in production.
  init(share: Double, clock: ClientClock) {
    self.share = share
    self.clock = clock
  }

  /// Waits for a call of the budget.
  ///
  /// - `deadline`: by ``ClientClock/uptime``; `nil` for none.
  /// - Throws: ``AppStoreClientError/localRateLimit(endpoint:retryAfter:)`` at once, if the wait would be longer
  ///   than the caller has; ``AppStoreClientError/cancelled``.
  func take(
    _ endpoint: Endpoint, _ priority: CallPriority, deadline: Duration?
  ) async throws(AppStoreClientError) {
    let ticket = state.withLock { state in
      state.nextTicket += 1
      return state.nextTicket
    }
    defer { leave(endpoint, ticket) }
    while let wait = wait(endpoint, priority, ticket) {
      if let deadline, clock.uptime() + wait > deadline {
        throw .localRateLimit(endpoint: endpoint, retryAfter: wait)
      }
      do { try await clock.sleep(wait) } catch { throw .cancelled }
    }
  }

  /// Apple says that this kind of call is used up for `duration`.
  func close(_ endpoint: Endpoint, for duration: Duration) {
    let now = clock.uptime()
    state.withLock { state in
      withLine(endpoint, of: &state, at: now) { $0.bucket.close(until: now + duration) }
    }
  }

  /// How many calls may be made at once now, of the kinds that were made before.
  func levels() -> [Endpoint: Double] {
    let now = clock.uptime()
    return state.withLock { $0.lines.mapValues { $0.bucket.calls(at: now) } }
  }

  /// `nil` if a call was taken.
  private func wait(_ endpoint: Endpoint, _ priority: CallPriority, _ ticket: UInt64) -> Duration? {
    let now = clock.uptime()
    return state.withLock { state in
      withLine(endpoint, of: &state, at: now) { line in
        let ahead = line.waiting.count {
          $0.ticket != ticket && ($0.priority > priority || $0.priority == priority && $0.ticket < ticket)
        }
        let wait = line.bucket.take(priority, behind: ahead, at: now)
        let isListed = line.waiting.contains { $0.ticket == ticket }
        if wait != nil, !isListed { line.waiting.append((ticket, priority)) }
        return wait
      }
    }
  }

  private func leave(_ endpoint: Endpoint, _ ticket: UInt64) {
    state.withLock { $0.lines[endpoint]?.waiting.removeAll { $0.ticket == ticket } }
  }

  private func withLine<Outcome>(
    _ endpoint: Endpoint, of state: inout State, at now: Duration, _ body: (inout Queue) -> Outcome
  ) -> Outcome {
    let full = Queue(bucket: TokenBucket(perSecond: endpoint.callsPerSecond * share, at: now))
    return body(&state.lines[endpoint, default: full])
  }
}
