internal import Glibc

/// The thread of a ``PostgresQueryPipeline``: opens sessions, sends what waits and delivers results.
final class QueryPipelineWorker {
  /// The pauses between two attempts to open a session.
  private static let firstPause = Duration.milliseconds(10)
  private static let maxPause = Duration.seconds(1)

  private let settings: PostgresSettings
  private let queue: SubmissionQueue
  private let limits: PostgresQueryPipeline.Limits
  private let onStateChange: @Sendable (PostgresError?) -> Void
  /// The queries without a result, oldest first, from ``firstInFlight`` on.
  private var inFlight: [InFlight] = []
  private var firstInFlight = 0
  /// The queries that are being sent.
  private var unsent: ArraySlice<Submission> = []

  private struct InFlight {
    let submission: Submission
    let sent: SentRequest
    let deadline: ContinuousClock.Instant
    /// The result so far: complete at the sync.
    var result: Result<PostgresRows, PostgresError> = .failure(.unexpectedResult)
  }

  init(
    _ settings: PostgresSettings, _ queue: SubmissionQueue, _ limits: PostgresQueryPipeline.Limits,
    _ onStateChange: @escaping @Sendable (PostgresError?) -> Void
  ) {
    self.settings = settings
    self.queue = queue
    self.limits = limits
    self.onStateChange = onStateChange
  }

  /// Works until the queue is closed.
  func run() {
    var pause = Self.firstPause
    var isReported = false
    while !queue.isClosed {
      do throws(PostgresError) {
        queue.beginSession()
        let handle = try SessionHandle(settings)
        try handle.enterPipeline()
        queue.acceptQueries()
        onStateChange(nil)
        isReported = false
        pause = Self.firstPause
        try serve(handle)
      } catch {
        failAll(error)
        if !isReported, !queue.isClosed { onStateChange(error) }
        isReported = true
        sleep(pause)
        pause = min(pause * 2, Self.maxPause)
      }
    }
    failAll(PostgresError(.unavailable, "the connection was closed"))
  }

  /// Sends and receives until the session is lost or the queue is closed.
  private func serve(_ handle: SessionHandle) throws(PostgresError) {
    while !queue.isClosed {
      guard !queue.isGivenUp else { throw PostgresError(.unavailable, "the session was given up") }
      try send(queue.take(inFlight: inFlight.count - firstInFlight), on: handle)
      let isSent = try handle.flush()
      try deliver(from: handle)
      try wait(for: handle, sending: !isSent)
    }
  }

  /// Sends each query with its own sync, so that its failure does not affect the next one.
  private func send(_ submissions: [Submission], on handle: SessionHandle) throws(PostgresError) {
    unsent = submissions[...]
    let deadline = ContinuousClock.now + limits.timeout
    while let submission = unsent.first {
      let sent = try handle.send(submission.request, isNamed: !settings.isPooled)
      try handle.sendSync()
      inFlight.append(InFlight(submission: submission, sent: sent, deadline: deadline))
      unsent.removeFirst()
    }
  }

  /// Delivers the results that have arrived.
  private func deliver(from handle: SessionHandle) throws(PostgresError) {
    while firstInFlight < inFlight.count, !handle.mustWait {
      switch try handle.nextResult() {
      case .rows(let rows): inFlight[firstInFlight].result = .success(rows)
      case .failed(let error):
        inFlight[firstInFlight].result = .failure(error)
        handle.discardStatement(of: inFlight[firstInFlight].sent, after: error)
      case .skipped, .endOfCommand: break
      case .sync:
        let query = inFlight[firstInFlight]
        firstInFlight += 1
        query.submission.completion(query.result)
      case .copyIn: throw .unexpectedResult
      }
    }
    guard firstInFlight == inFlight.count else { return }
    inFlight.removeAll(keepingCapacity: true)
    firstInFlight = 0
  }

  /// Waits for the socket, a new query, or the end of the time of the oldest one.
  private func wait(for handle: SessionHandle, sending: Bool) throws(PostgresError) {
    var pause: CInt = -1
    if firstInFlight < inFlight.count {
      let rest = inFlight[firstInFlight].deadline - .now
      guard rest > .zero else { throw PostgresError(.unavailable, "the database did not answer in time") }
      pause = rest.pollMilliseconds
    }
    let events = CShort(sending ? POLLIN | POLLOUT : POLLIN)
    var descriptors = [
      pollfd(fd: handle.socket, events: events, revents: 0),
      pollfd(fd: queue.wakeUp.descriptor, events: CShort(POLLIN), revents: 0),
    ]
    guard poll(&descriptors, 2, pause) > 0 else { return }
    if descriptors[1].revents != 0 { queue.wakeUp.reset() }
    // An error of the socket appears when it is read.
    if descriptors[0].revents & ~CShort(POLLOUT) != 0 { try handle.receive() }
  }

  /// Waits before the next attempt, or until the queue is closed.
  private func sleep(_ duration: Duration) {
    var wakeUp = pollfd(fd: queue.wakeUp.descriptor, events: CShort(POLLIN), revents: 0)
    queue.wakeUp.reset()
    guard !queue.isClosed else { return }
    poll(&wakeUp, 1, duration.pollMilliseconds)
  }

  /// Fails all queries that have no result.
  private func failAll(_ error: PostgresError) {
    queue.refuseQueries()
    let queries = inFlight[firstInFlight...].map(\.submission) + unsent + queue.take(inFlight: 0)
    inFlight = []
    firstInFlight = 0
    unsent = []
    for query in queries { query.completion(.failure(error)) }
  }
}
