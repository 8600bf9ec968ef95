internal import Synchronization

/// Stops calling a host that fails repeatedly, then probes it with single calls.
///
/// Five failures in a row open the circuit for 5 seconds. Each failed probe doubles that, up to 300 seconds.
///
/// An error code of Apple's with a status from 500 on may be about one purchase, or about all of them in an outage. It
/// counts once for each purchase until a call about that purchase succeeds. So five purchases open the circuit, and one
/// that always fails does not.
final class CircuitBreaker: Sendable {
  private enum Phase {
    /// Calls pass; `failures` in a row have failed.
    case closed(failures: Int)
    /// Calls fail at once until `until`; `length` is the duration of this phase.
    case open(until: Duration, length: Duration)
    /// One call is in flight; all others fail until it returns.
    case probing(length: Duration)
  }

  private struct State {
    var phase = Phase.closed(failures: 0)
    /// The subjects whose last call failed with an error code of Apple's.
    var failing: Set<String> = []
  }

  /// Failures in a row after which calls fail without being made.
  private static let failureThreshold = 5
  /// How long the circuit stays open the first time.
  private static let minOpenTime = Duration.seconds(5)
  /// How long it stays open at most.
  private static let maxOpenTime = Duration.seconds(300)
  /// A host that does not respond in less time has not failed, because callers choose their timeouts.
  private static let fairTimeout = Duration.seconds(5)
  /// The number of failing subjects at which all of them are discarded, so that they count again.
  private static let maxFailing = 1_000

  private let clock: ClientClock
  private let state = Mutex(State())

  init(clock: ClientClock) { self.clock = clock }

  /// Returns `nil` if the caller may call, which it must then report with ``succeeded(about:)``,
  /// ``failed(about:)`` or ``abandoned()``; otherwise the time until the next probe.
  func retryDelay() -> Duration? {
    let now = clock.uptime()
    return state.withLock { state in
      switch state.phase {
      case .closed: return nil
      case .open(let end, let length):
        guard now >= end else { return end - now }
        state.phase = .probing(length: length)
        return nil
      case .probing(let length): return length
      }
    }
  }

  /// Whether calls are stopped, or limited to a probe.
  var isOpen: Bool { state.withLock { if case .closed = $0.phase { false } else { true } } }

  /// Records that the host responded with a status below 500. `subject` is what the call was about.
  func succeeded(about subject: String? = nil) {
    state.withLock { state in
      state.phase = .closed(failures: 0)
      if let subject { state.failing.remove(subject) }
    }
  }

  /// Records that the host did not respond, or responded with a status from 500 on. `subject` is what the error may be
  /// about alone; `nil` for an error of the host.
  func failed(about subject: String? = nil) {
    guard isFirstFailure(of: subject) else { return abandoned() }
    let now = clock.uptime()
    state.withLock { state in
      switch state.phase {
      case .closed(let failures):
        state.phase =
          failures + 1 < Self.failureThreshold
          ? .closed(failures: failures + 1)
          : .open(until: now + Self.minOpenTime, length: Self.minOpenTime)
      case .probing(let length):
        let longer = min(length * 2, Self.maxOpenTime)
        state.phase = .open(until: now + longer, length: longer)
      case .open: break
      }
    }
  }

  /// Whether a failure counts: the subject did not fail since the last call about it that succeeded.
  private func isFirstFailure(of subject: String?) -> Bool {
    guard let subject else { return true }
    return state.withLock { state in
      if state.failing.count >= Self.maxFailing { state.failing = [] }
      return state.failing.insert(subject).inserted
    }
  }

  /// Records that the call ended without a result, so that the next caller may probe.
  func abandoned() {
    let now = clock.uptime()
    state.withLock { state in
      if case .probing(let length) = state.phase { state.phase = .open(until: now, length: length) }
    }
  }

  /// Records a failed exchange with `host`, and returns the error of the call. `timeout` is the time that the host had,
  /// and `limit` the maximum size of a response body.
  func recorded(
    _ error: HTTPExchangeError, host: String, timeout: Duration, limit: Int
  ) -> AppStoreClientError {
    switch error {
    case .cancelled:
      abandoned()
      return .cancelled
    case .tooLarge:
      succeeded()
      return .tooLarge(limit: limit)
    case .timedOut:
      if timeout >= Self.fairTimeout { failed() } else { abandoned() }
      return .timedOut
    case .unreachable(let problem):
      failed()
      return .unreachable(host: host, problem: problem)
    }
  }
}

/// The number of attempts of a call, and the backoff between them.
package struct RetryPolicy: Sendable {
  /// The first attempt included.
  package let maxAttempts: Int
  /// Upper bound of the first backoff; it doubles with each attempt, up to `maxBackoff`.
  let firstBackoff: Duration
  let maxBackoff: Duration

  /// The policy of all calls to Apple.
  package static let standard = RetryPolicy(
    maxAttempts: 4, firstBackoff: .milliseconds(250), maxBackoff: .seconds(8))

  /// Returns the backoff after attempt number `attempt`, counted from 1: full jitter below the exponential
  /// bound, so that callers that failed together do not retry together. `random` is from 0 up to 1.
  package func backoff(after attempt: Int, random: Double) -> Duration {
    let bound = min(firstBackoff.seconds * Double(1 << min(attempt - 1, 16)), maxBackoff.seconds)
    return .seconds(bound * random)
  }
}
