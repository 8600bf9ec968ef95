internal import AppStore
internal import HTTP
internal import Ledger
internal import RPC
internal import Store
internal import Synchronization
internal import Wire

/// Answers checks of a store whose database is across a network, on any thread: from ``AnswerMemory``, or with one read
/// for the misses of many calls.
struct RemoteAnswers: Sendable {
  let checks: CheckEvaluation
  /// Reads the misses of many calls with one query.
  let loader: any AnswerLoader
  /// The answers of this process, which all event loops share.
  let memory: AnswerMemory
  /// Answers from snapshots what stored answers do not suffice for.
  let pool: PooledChecks
  /// Knows since when the database has not answered.
  let feed: StoreFeed

  /// The age of the answers of a tick.
  enum Age {
    /// The database has answered within `max_staleness`.
    case fresh
    /// The database has not answered since then. Unknown customers are not answered.
    case stale(since: Instant)

    var isStale: Bool { if case .stale = self { true } else { false } }
  }

  /// Returns the present age of answers.
  ///
  /// - Throws: `UNAVAILABLE` after ``StalenessPolicy/serveStaleForMilliseconds``.
  func age(at times: EnvironmentTimes) throws(Status) -> Age {
    switch feed.staleness(at: times.others) {
    case .fresh: return .fresh
    case .stale(let since): return .stale(since: since)
    case .expired: throw Status(StoreError.unavailable("the database has been away for too long"))
    }
  }

  /// Answers from memory; `nil` if it has no answer.
  func cached(
    _ query: CheckEvaluation.Query, at times: EnvironmentTimes
  ) throws(Status) -> CheckEvaluation.Outcome? {
    guard let loaded = memory.answers(of: query.key) else { return nil }
    return try evaluated(query, at: times, loaded)
  }

  /// Requests the answers of a customer that the memory does not have; they are read after the next flush. `completion`
  /// runs on any thread, which it must not block.
  ///
  /// - Throws: at once while the database is away.
  func request(
    _ customer: CustomerKey, _ completion: @escaping @Sendable (PendingAnswers.Loaded) -> Void
  ) throws(Status) {
    guard !feed.isAway else { throw Status(StoreError.unavailable("the database does not answer")) }
    loader.load(customer) { [memory] result in
      if case .success(let loaded) = result { memory.insert(loaded, of: customer) }
      completion(result)
    }
  }

  /// As ``request(_:_:)``, for a task.
  func request(_ customer: CustomerKey) throws(Status) -> PendingAnswers {
    let pending = PendingAnswers()
    try request(customer) { pending.complete($0) }
    return pending
  }

  /// The answer that loaded answers give.
  enum Loaded {
    case complete(CheckEvaluation.Outcome)
    /// Only a snapshot has it.
    case incomplete(isExpensive: Bool)
  }

  /// Answers with loaded answers, as far as they suffice.
  func answer(
    _ query: CheckEvaluation.Query, _ result: PendingAnswers.Loaded
  ) throws(Status) -> Loaded {
    switch result {
    case .success(let loaded):
      if let outcome = try evaluated(query, at: pool.times(), loaded) { return .complete(outcome) }
      guard case .answers(_, let factBytes) = loaded.content else { return .incomplete(isExpensive: false) }
      return .incomplete(isExpensive: factBytes > Self.maxPromptFactBytes)
    // Only the loader's session was lost.
    case .failure(.unavailable) where !feed.isAway: return .incomplete(isExpensive: false)
    case .failure(let error): throw Status(error)
    }
  }

  /// Answers with requested answers, or from a snapshot if these do not suffice.
  func answer(
    _ query: CheckEvaluation.Query, _ pending: PendingAnswers, _ call: CallContext
  ) async throws(Status) -> CheckEvaluation.Outcome {
    switch try answer(query, await pending.result()) {
    case .complete(let outcome): return outcome
    case .incomplete(let isExpensive):
      return try await pool.outcome(of: query, call, isExpensive: isExpensive)
    }
  }

  /// Larger facts take long to evaluate; the number of such calls is limited.
  private static let maxPromptFactBytes: Int64 = 64 << 10

  private func evaluated(
    _ query: CheckEvaluation.Query, at times: EnvironmentTimes, _ loaded: LoadedAnswers
  ) throws(Status) -> CheckEvaluation.Outcome? {
    do throws(StoreError) {
      return try checks.answer(to: query, at: times, loaded)
    } catch {
      throw Status(error)
    }
  }
}

/// Answers that were requested and have not arrived.
final class PendingAnswers: Sendable {
  /// The answers that a query loaded, or its error.
  typealias Loaded = Result<LoadedAnswers, StoreError>

  private enum State {
    case empty
    case awaited(CheckedContinuation<Loaded, Never>)
    case arrived(Loaded)
  }

  private let state = Mutex(State.empty)

  /// Delivers the result, once.
  func complete(_ result: Loaded) {
    let waiter = state.withLock { state -> CheckedContinuation<Loaded, Never>? in
      defer { state = .arrived(result) }
      if case .awaited(let continuation) = state { return continuation }
      return nil
    }
    waiter?.resume(returning: result)
  }

  /// Waits for the result; one task may call it.
  func result() async -> Loaded {
    await withCheckedContinuation { continuation in
      let arrived = state.withLock { state -> Loaded? in
        if case .arrived(let result) = state { return result }
        state = .awaited(continuation)
        return nil
      }
      if let arrived { continuation.resume(returning: arrived) }
    }
  }
}

extension Reply {
  /// The metadata with the time since which the database has not answered, in RFC 3339.
  static let staleSinceField = "entitled-stale-since"

  /// Adds the age of the answer, if it is stale.
  mutating func mark(_ age: RemoteAnswers.Age) {
    guard case .stale(let since) = age else { return }
    initialMetadata.append(name: Self.staleSinceField, value: "\(since)")
  }
}
