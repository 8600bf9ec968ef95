internal import HTTP
internal import HTTP2
internal import NIOCore
internal import RPC

/// A call with any number of messages each way, on the connection's side: it cuts the request into
/// messages for the handler's ``MessageMailbox`` and sends what the handler gives.
final class StreamingExchange: Exchange {
  private let call: Call
  private let connection: HTTP2Handler
  private let mailbox: MessageMailbox
  private var task: Task<Void, Never>?
  private var deadline: Scheduled<Void>?
  private var hasResponded = false
  /// Bytes received that the caller was not yet allowed to replace.
  private var withheld = 0
  /// How much of the request waited at the last look, as the beginning of a message.
  private var counted = 0

  init(_ call: Call, _ connection: HTTP2Handler) {
    self.call = call
    self.connection = connection
    self.mailbox = MessageMailbox(backlogBytes: connection.limits.streamBacklogBytes)
  }

  func start(
    _ handler: @escaping @Sendable (any MessageStream, CallContext) async throws(Status) -> Void
  ) {
    guard let loop = connection.context?.eventLoop else { return }
    deadline = connection.scheduleDeadline(call) { [self] in
      mailbox.fail(.deadlineExceeded)
      task?.cancel()
      end(.deadlineExceeded)
    }
    let exchange = NIOLoopBound(self, eventLoop: loop)
    let stream = LoopMessageStream(mailbox: mailbox, exchange: exchange, loop: loop)
    let context = call.context
    task = Task {
      var status = Status.ok
      do throws(Status) {
        try await handler(stream, context)
      } catch {
        status = error
      }
      loop.execute { [status] in exchange.value.end(status) }
    }
    received()
  }

  func received() {
    let session = connection.session
    withheld += session.inboundCount(of: call.id) - counted
    while let message = nextMessage() {
      switch message {
      case .success(let bytes): mailbox.deliver(bytes)
      case .failure(let error):
        mailbox.fail(Status(error))
        task?.cancel()
        return end(Status(error))
      }
    }
    counted = session.inboundCount(of: call.id)
    if session.hasInboundEnded(of: call.id) {
      if counted > 0 {
        mailbox.fail(Status(FramingError.truncated))
        return end(Status(FramingError.truncated))
      }
      mailbox.finish()
    }
    allowMoreIfTaken()
  }

  /// Cuts the next whole message off the request; `nil` while there is none.
  private func nextMessage() -> Result<[UInt8], FramingError>? {
    let session = connection.session
    let limit = connection.limits.messageBytes
    var length = 0
    var message: Result<[UInt8], FramingError>?
    session.withInbound(of: call.id) { bytes in
      do throws(FramingError) {
        guard let frame = try MessageFrame(prefixOf: bytes, limit: limit),
          bytes.count >= frame.totalLength
        else { return }
        length = frame.totalLength
        try frame.withMessage(in: bytes, encoding: call.requestEncoding, limit: limit) {
          message = .success(Array($0))
        }
      } catch {
        message = .failure(error)
      }
    }
    session.removeInbound(length, of: call.id)
    return message
  }

  /// Lets the caller send more while the handler keeps up.
  func allowMoreIfTaken() {
    guard withheld > 0, mailbox.hasRoom else { return }
    connection.session.allowMore(withheld, on: call.id)
    withheld = 0
    connection.scheduleFlush()
  }

  func drained() { mailbox.resumeSender() }

  func closed() {
    deadline?.cancel()
    mailbox.fail(.cancelled)
    task?.cancel()
  }

  /// Sends a message; answers whether the handler may go on at once.
  func send(_ message: [UInt8]) -> Bool {
    guard isOpen else { return true }
    respondIfNeeded()
    let session = connection.session
    session.send(on: call.id) { MessageFrame.append(message, to: &$0, encoding: call.replyEncoding) }
    connection.scheduleFlush()
    return session.unsentCount(of: call.id) < connection.limits.streamBacklogBytes
  }

  private var isOpen: Bool { connection.exchanges[call.id] === self }

  private func respondIfNeeded() {
    guard !hasResponded else { return }
    hasResponded = true
    connection.session.respond(
      on: call.id, GRPCFields.head(call.replyEncoding, metadata: HeaderFields()), endOfStream: false)
  }

  private func end(_ status: Status) {
    guard isOpen else { return }
    deadline?.cancel()
    connection.exchanges[call.id] = nil
    mailbox.fail(.cancelled)
    guard hasResponded else {
      if status.code == .ok {
        respondIfNeeded()
        connection.session.finish(call.id, trailers: status.fields())
        return connection.scheduleFlush()
      }
      return connection.refuse(call.id, status)
    }
    connection.session.finish(call.id, trailers: status.fields())
    if !connection.session.hasInboundEnded(of: call.id) { connection.resetAfterOutput(call.id) }
    connection.scheduleFlush()
  }
}

/// The handler's side of a streaming call.
struct LoopMessageStream: MessageStream {
  let mailbox: MessageMailbox
  let exchange: NIOLoopBound<StreamingExchange>
  let loop: any EventLoop

  func next() async throws(Status) -> [UInt8]? {
    let message = try await mailbox.next()
    loop.execute { exchange.value.allowMoreIfTaken() }
    return message
  }

  func send(_ message: [UInt8]) async throws(Status) {
    try await mailbox.sending { resume in
      loop.execute {
        if exchange.value.send(message) { resume() }
      }
    }
  }
}
