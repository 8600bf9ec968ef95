internal import HTTP2
internal import NIOCore
internal import Platform
internal import RPC
internal import Synchronization

/// A unary call whose message is too large for the event loop: another thread decompresses it, if its caller is permitted, and
/// decodes it.
final class LargeUnaryExchange: Exchange {
  private let call: Call
  private let handler: Method.UnaryHandler
  private let connection: HTTP2Handler
  private var task: Task<Void, Never>?
  private var deadline: LoopTimer?

  /// `handler` gets the message on the loop if the method has no handler for large ones.
  init(_ call: Call, _ handler: @escaping Method.UnaryHandler, _ connection: HTTP2Handler) {
    self.call = call
    self.handler = handler
    self.connection = connection
  }

  /// Starts with the framed message and the handler for large ones.
  func start(_ body: [UInt8], _ large: Method.LargeHandler?) {
    guard let loop = connection.context?.eventLoop else { return }
    let (waiting, bytes) = (connection.http.waiting, body.count + WaitingRequests.overhead)
    guard waiting.begin(bytes) else {
      return end(.result(.failure(Status(.resourceExhausted, "too many requests wait; try again"))))
    }
    connection.startedTasks += 1
    deadline = connection.scheduleDeadline(call) { [self] in
      task?.cancel()
      end(.result(.failure(.deadlineExceeded)))
    }
    let (exchange, mailbox) = (NIOLoopBound(self, eventLoop: loop), connection.host.mailbox)
    let request = LargeRequest(
      body, call.context, limit: connection.messageLimit(of: call), handler: large)
    task = Task(executorPreference: BackgroundThreads.shared) {
      waiting.end(bytes)
      guard !Task.isCancelled else { return }
      let (outcome, inflation) = request.read()
      mailbox.deliver(from: .shared) { exchange.value.end(outcome, inflation) }
    }
  }

  func received() {}

  func drained() {}

  func closed() {
    deadline?.cancel()
    task?.cancel()
  }

  /// Counts the memory that the decompressed message took for the connection, and then ends the call.
  private func end(_ outcome: LargeRequest.Outcome, _ inflation: LargeRequest.Inflation?) {
    if let inflation {
      connection.session.countInflation(from: inflation.size, to: inflation.inflatedSize)
      if inflation.hasFailed { connection.session.countBomb() }
    }
    end(outcome)
    connection.checkBacklog()
  }

  /// Responds, unless the call has ended before.
  private func end(_ outcome: LargeRequest.Outcome) {
    // The task, the deadline or a disconnect may have ended it before.
    guard connection.exchanges[call.id] === self else { return }
    deadline?.cancel()
    connection.exchanges[call.id] = nil
    switch outcome {
    case .result(let result): connection.answer(call, result)
    case .message(let message):
      var call = call
      connection.answer(&call, message: message, handler)
    }
  }
}

/// The request of a large call. It is read once and then freed, so that it is not kept while the call waits.
private final class LargeRequest: Sendable {
  /// The sizes of a message before and after its decompression.
  struct Inflation: Sendable {
    let size: Int
    /// The limit, if it failed.
    let inflatedSize: Int
    /// Whether the message cannot be decompressed, or not within its limit.
    let hasFailed: Bool
  }

  enum Outcome: Sendable {
    case result(UnaryResult)
    /// The message, which the loop handles.
    case message([UInt8])
  }

  private let body: Mutex<[UInt8]>
  private let context: CallContext
  private let limit: Int
  private let handler: Method.LargeHandler?

  init(_ body: [UInt8], _ context: CallContext, limit: Int, handler: Method.LargeHandler?) {
    self.body = Mutex(body)
    self.context = context
    self.limit = limit
    self.handler = handler
  }

  /// Calls the handler, which reads the message, or reads it for the loop. Returns the sizes of a message that was
  /// decompressed.
  func read() -> (Outcome, Inflation?) {
    let body = body.withLock { body in
      defer { body = [] }
      return body
    }
    var inflation: Inflation?
    let outcome: Outcome
    do throws(Status) {
      if let handler {
        let work = try handler({ () throws(Status) in try message(in: body, &inflation) }, context)
        outcome = .result(.async(work))
      } else {
        outcome = .message(Array(try message(in: body, &inflation)))
      }
    } catch {
      outcome = .result(.failure(error))
    }
    return (outcome, inflation)
  }

  /// The message of a framed body, decompressed.
  private func message(
    in body: [UInt8], _ inflation: inout Inflation?
  ) throws(Status) -> ArraySlice<UInt8> {
    let packed = body.dropFirst(MessageFrame.prefixLength)
    guard context.messageWasCompressed else { return packed }
    inflation = Inflation(size: packed.count, inflatedSize: limit, hasFailed: true)
    do throws(FramingError) {
      let message = try packed.withUnsafeBufferPointer { bytes throws(FramingError) in
        try MessageFrame.inflated(UnsafeRawBufferPointer(bytes), limit: limit)
      }
      inflation = Inflation(size: packed.count, inflatedSize: message.count, hasFailed: false)
      return message[...]
    } catch {
      throw Status(error)
    }
  }
}
