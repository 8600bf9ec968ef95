internal import HTTP2
internal import NIOCore
internal import Platform
internal import RPC

/// A unary call whose request is incomplete.
final class BufferingUnaryExchange: Exchange {
  private let call: Call
  private let handler: Method.UnaryHandler
  private let connection: HTTP2Handler
  private var deadline: LoopTimer?
  private var requestTimeout: LoopTimer?
  /// The bytes that the window already allows the caller to replace.
  private var allowed = 0

  init(
    _ call: Call, _ handler: @escaping Method.UnaryHandler,
    _ connection: HTTP2Handler
  ) {
    self.call = call
    self.handler = handler
    self.connection = connection
    deadline = connection.scheduleDeadline(call) { [self] in end(.deadlineExceeded) }
    requestTimeout = connection.schedule(in: .milliseconds(connection.limits.times.request)) { [self] in
      end(.requestTooSlow)
    }
  }

  func received() {
    let session = connection.session
    var refusal: Status?
    session.withInbound(of: call.id) { bytes in
      do throws(FramingError) {
        let frame = try MessageFrame(prefixOf: bytes, limit: connection.messageLimit(of: call))
        if let frame, bytes.count > frame.totalLength { refusal = .oneMessageExpected }
      } catch {
        refusal = Status(error)
      }
    }
    if let refusal { return end(refusal) }
    if session.hasInboundEnded(of: call.id) {
      detach()
      var call = call
      return connection.answer(&call, handler)
    }
    // The message is within its limit, so the window opens at once.
    let count = session.inboundCount(of: call.id)
    session.allowMore(count - allowed, on: call.id)
    allowed = count
  }

  func drained() {}

  func closed() {
    deadline?.cancel()
    requestTimeout?.cancel()
  }

  private func end(_ status: Status) {
    detach()
    connection.refuse(call.id, status)
  }

  private func detach() {
    closed()
    connection.exchanges[call.id] = nil
  }
}

/// A unary call whose handler runs as a task, or waits for a result.
final class AsyncUnaryExchange: Exchange {
  private let call: Call
  private let connection: HTTP2Handler
  private var task: Task<Void, Never>?
  private var deadline: LoopTimer?

  init(_ call: Call, _ connection: HTTP2Handler) {
    self.call = call
    self.connection = connection
  }

  func start(_ work: @escaping UnaryWork) {
    guard let loop = begin() else { return }
    run(work, on: loop)
  }

  func start(_ pending: PendingResult) {
    guard let loop = begin() else { return }
    wait(for: pending, on: loop)
  }

  /// Schedules the deadline; returns the loop of the connection.
  private func begin() -> (any EventLoop)? {
    guard let loop = connection.context?.eventLoop else { return nil }
    connection.startedTasks += 1
    deadline = connection.scheduleDeadline(call) { [self] in
      task?.cancel()
      end(.failure(.deadlineExceeded))
    }
    return loop
  }

  private func wait(for pending: PendingResult, on loop: any EventLoop) {
    let (exchange, mailbox) = (NIOLoopBound(self, eventLoop: loop), connection.host.mailbox)
    pending.whenComplete { result in
      mailbox.deliver(from: .shared) { exchange.value.finish(result, on: loop) }
    }
  }

  private func finish(_ result: UnaryResult, on loop: any EventLoop) {
    switch result {
    case .reply(let reply): end(.success(reply))
    case .failure(let status): end(.failure(status))
    case .async(let work):
      run(work, on: loop)
      // The work also ends calls that are over, in metrics and logs.
      if connection.exchanges[call.id] !== self { task?.cancel() }
    case .later(let pending): wait(for: pending, on: loop)
    }
  }

  private func run(_ work: @escaping UnaryWork, on loop: any EventLoop) {
    let (exchange, mailbox) = (NIOLoopBound(self, eventLoop: loop), connection.host.mailbox)
    task = Task(executorPreference: BackgroundThreads.shared) {
      let outcome: Result<Reply, Status>
      do throws(Status) {
        outcome = .success(try await work())
      } catch {
        outcome = .failure(error)
      }
      mailbox.deliver(from: .shared) { exchange.value.end(outcome) }
    }
  }

  func received() {}

  func drained() {}

  func closed() {
    deadline?.cancel()
    task?.cancel()
  }

  private func end(_ outcome: Result<Reply, Status>) {
    // The work, the deadline or a disconnect may have ended the call before.
    guard connection.exchanges[call.id] === self else { return }
    deadline?.cancel()
    connection.exchanges[call.id] = nil
    switch outcome {
    case .success(let reply): connection.send(reply, call)
    case .failure(let status): connection.refuse(call.id, status)
    }
  }
}

extension HTTP2Handler {
  /// Calls `expired` on the loop at the caller's deadline; `nil` if it has none.
  func scheduleDeadline(_ call: Call, _ expired: @escaping () -> Void) -> LoopTimer? {
    guard let timeout = call.context.timeout else { return nil }
    return schedule(in: .nanoseconds(timeout.nanoseconds), expired)
  }

  /// Calls `work` on the loop after `time`.
  func schedule(in time: TimeAmount, _ work: @escaping () -> Void) -> LoopTimer? {
    context == nil ? nil : host.timers.schedule(in: time, work)
  }
}
