internal import Foundation
internal import Synchronization

/// Runs the queries of many threads over one session, each as soon as it arrives: the server answers in order, and no
/// query waits for the answer to the one before.
///
/// A thread waits for the socket. Each query runs in a separate transaction, and should only read: after a lost session
/// its result is unknown and it is not repeated.
package final class PostgresQueryPipeline: Sendable {
  /// Receives the result on the thread of the pipeline, which it must not block.
  package typealias Completion = @Sendable (Result<PostgresRows, PostgresError>) -> Void

  /// The limits of a pipeline.
  package struct Limits: Sendable {
    /// The time after which a session that does not answer is given up, with all queries in flight.
    package var timeout: Duration
    /// The number of queries in flight beyond which a query fails at once.
    package var maxInFlight: Int

    package init(timeout: Duration = .seconds(1), maxInFlight: Int = 1024) {
      self.timeout = timeout
      self.maxInFlight = maxInFlight
    }
  }

  private let queue: SubmissionQueue

  /// Starts the thread, which opens a session and reopens it when it was lost. `onStateChange` is called on that thread
  /// with `nil` when a session was opened, and with the error when it was lost or the first attempt fails.
  package init(
    _ settings: PostgresSettings, limits: Limits = Limits(),
    onStateChange: @escaping @Sendable (PostgresError?) -> Void = { _ in }
  ) throws(PostgresError) {
    let queue = try SubmissionQueue(limits: limits)
    self.queue = queue
    Thread.detachNewThread {
      QueryPipelineWorker(settings, queue, limits, onStateChange).run()
    }
  }

  deinit { queue.close() }

  /// Runs a query; does not block. Without a session it fails at once, since an answer from memory may still serve. So
  /// does the first query with a greater `generation` than before: the session is given up for another one.
  package func submit(
    _ request: PostgresRequest, generation: Int = 0, _ completion: @escaping Completion
  ) {
    if let error = queue.add(Submission(request: request, completion: completion), generation) {
      completion(.failure(error))
    }
  }

  /// Whether a session is open.
  package var isConnected: Bool { queue.isConnected }

  /// Ends the thread; queries in flight fail.
  package func close() { queue.close() }
}

/// A query that waits to be sent.
struct Submission: Sendable {
  let request: PostgresRequest
  let completion: PostgresQueryPipeline.Completion
}

/// Queries on their way to the thread of a pipeline.
final class SubmissionQueue: Sendable {
  private struct State {
    var waiting: [Submission] = []
    /// The number of queries that are sent and not answered.
    var inFlight = 0
    var isConnected = false
    /// Whether the session must not run another query.
    var isGivenUp = false
    /// The greatest generation of a query.
    var generation = 0
    var isClosed = false
    /// Whether the thread was woken for what waits.
    var isWoken = false
  }

  private let state = Mutex(State())
  private let maxInFlight: Int
  /// Wakes the thread while it waits for the socket.
  let wakeUp: WakeUpPipe

  init(limits: PostgresQueryPipeline.Limits) throws(PostgresError) {
    maxInFlight = limits.maxInFlight
    wakeUp = try WakeUpPipe()
  }

  /// Adds a query, or returns the reason to refuse it.
  func add(_ submission: Submission, _ generation: Int) -> PostgresError? {
    var mustWake = false
    let error: PostgresError? = state.withLock { state in
      if generation > state.generation {
        state.generation = generation
        (state.isConnected, state.isGivenUp, mustWake) = (false, true, true)
      }
      guard state.isConnected, !state.isClosed else {
        return PostgresError(.unavailable, "no connection to the database")
      }
      guard state.waiting.count + state.inFlight < maxInFlight else {
        return PostgresError(.overloaded, "\(maxInFlight) queries are in flight")
      }
      state.waiting.append(submission)
      mustWake = !state.isWoken
      state.isWoken = true
      return nil
    }
    if mustWake { wakeUp.wake() }
    return error
  }

  /// Returns what waits; `inFlight` is the number that is not answered yet.
  func take(inFlight: Int) -> [Submission] {
    state.withLock { state in
      let waiting = state.waiting
      state.waiting.removeAll(keepingCapacity: true)
      state.inFlight = inFlight + waiting.count
      state.isWoken = false
      return waiting
    }
  }

  /// Begins to open a session.
  func beginSession() { state.withLock { $0.isGivenUp = false } }

  /// Accepts queries from now on, unless the session is given up already.
  func acceptQueries() { state.withLock { $0.isConnected = !$0.isGivenUp } }

  /// Refuses queries from now on.
  func refuseQueries() { state.withLock { $0.isConnected = false } }

  var isGivenUp: Bool { state.withLock { $0.isGivenUp } }

  var isConnected: Bool { state.withLock { $0.isConnected && !$0.isClosed } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  func close() {
    state.withLock { $0.isClosed = true }
    wakeUp.wake()
  }
}
