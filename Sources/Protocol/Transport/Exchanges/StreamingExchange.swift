internal import HTTP
internal import HTTP2
internal import NIOCore
internal import Platform
internal import RPC

/// The connection's side of a streaming call: decodes frames of the request into the handler's
/// `MessageMailbox`, and sends the handler's messages.
final class StreamingExchange: Exchange {
  private let call: Call
  private let connection: HTTP2Handler
  private let messageLimit: Int
  private let mailbox: MessageMailbox
  private let retirement = CallRetirement()
  private var task: Task<Void, Never>?
  private var deadline: LoopTimer?
  private var hasResponded = false
  private var initialMetadata = Metadata()
  private var trailingMetadata = Metadata()
  /// The bytes of the request removed from the session.
  private var removedBytes = 0
  /// The bytes of the request for which the window was reopened.
  private var allowed = 0

  /// Creates an exchange whose caller may send messages of at most `messageLimit` bytes, compressed or not.
  init(_ call: Call, _ connection: HTTP2Handler, messageLimit: Int) {
    self.call = call
    self.connection = connection
    self.messageLimit = messageLimit
    self.mailbox = MessageMailbox(backlogBytes: connection.limits.streamBacklogBytes)
  }

  /// Starts the handler on `threads`; on Swift's pool if there are none.
  func start(_ handler: @escaping Method.StreamHandler, on threads: BackgroundThreads?) {
    guard let loop = connection.context?.eventLoop else { return }
    connection.startedTasks += 1
    deadline = connection.scheduleDeadline(call) { [self] in end(.deadlineExceeded) }
    let exchange = NIOLoopBound(self, eventLoop: loop)
    let stream = LoopMessageStream(mailbox: mailbox, exchange: exchange, loop: loop)
    var context = call.context
    context.retirement = retirement
    // Opened on a connection that ends, before the client knew.
    if connection.isDraining { retire() }
    task = Task(executorPreference: threads) { [context] in
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

  /// Delivers received messages up to the capacity of the mailbox, and reopens the window if all fit.
  func received() {
    guard isOpen else { return }
    let session = connection.session
    do throws(FramingError) {
      guard try deliverMessages() else { return }
      guard session.hasInboundEnded(of: call.id) else { return allowMore() }
      guard session.inboundCount(of: call.id) == 0 else { throw .truncated }
      mailbox.finish()
    } catch {
      end(Status(error))
    }
  }

  /// Delivers all complete messages; returns whether all fit.
  private func deliverMessages() throws(FramingError) -> Bool {
    let session = connection.session
    var outcome = Result<(used: Int, isComplete: Bool), FramingError>.success((0, true))
    session.withInbound(of: call.id) { bytes in
      do throws(FramingError) {
        outcome = .success(
          try mailbox.fill(
            from: bytes, encoding: call.requestEncoding, limit: messageLimit))
      } catch {
        outcome = .failure(error)
      }
    }
    let (used, isComplete) = try outcome.get()
    session.removeInbound(used, of: call.id)
    removedBytes += used
    return isComplete
  }

  private func allowMore() {
    let session = connection.session
    let arrived = removedBytes + session.inboundCount(of: call.id)
    guard arrived > allowed else { return }
    session.allowMore(arrived - allowed, on: call.id)
    allowed = arrived
    connection.scheduleFlush()
  }

  func drained() { mailbox.resumeSender() }

  func closed() {
    deadline?.cancel()
    mailbox.fail(.cancelled)
    task?.cancel()
  }

  /// Sends a message; returns whether the handler may continue at once.
  func send(_ message: [UInt8], compression: MessageCompression) -> Bool {
    guard isOpen else { return true }
    respondIfNeeded()
    let session = connection.session
    session.send(on: call.id) {
      MessageFrame.append(message, to: &$0, encoding: call.encoding(compression))
    }
    connection.scheduleFlush()
    return session.unsentCount(of: call.id) < connection.limits.streamBacklogBytes
  }

  func retire() { retirement.begin() }

  /// Sends the header fields.
  func begin() {
    guard isOpen else { return }
    respondIfNeeded()
    connection.scheduleFlush()
  }

  func attach(initial: Metadata, trailing: Metadata) {
    initialMetadata = initial
    trailingMetadata = trailing
  }

  private var isOpen: Bool { connection.exchanges[call.id] === self }

  private func respondIfNeeded() {
    guard !hasResponded else { return }
    hasResponded = true
    if !call.isPublic { connection.succeeded() }
    // A flag in each message states whether it is compressed; this field names the encoding.
    connection.session.respond(
      on: call.id, GRPCFields.head(call.encoding(.always), metadata: initialMetadata.fields),
      endOfStream: false)
  }

  /// Ends the call with the status of the handler, or of an earlier failure.
  private func end(_ status: Status) {
    guard isOpen else { return }
    deadline?.cancel()
    connection.exchanges[call.id] = nil
    mailbox.fail(status.code == .ok ? .cancelled : status)
    task?.cancel()
    if !hasResponded, status.code != .ok, initialMetadata.entries.isEmpty {
      return connection.refuse(call.id, status, trailing: trailingMetadata.fields)
    }
    respondIfNeeded()
    let trailers = status.fields(within: connection.session.maxHeaderBytes) {
      $0.fields(after: trailingMetadata.fields)
    }
    guard let trailers else { return connection.resetCall(call.id) }
    connection.session.finish(call.id, trailers: trailers)
    if !connection.session.hasInboundEnded(of: call.id) { connection.resetAfterOutput(call.id) }
    connection.scheduleFlush()
  }
}

/// The handler's side of a streaming call.
struct LoopMessageStream: MessageStream {
  let mailbox: MessageMailbox
  let exchange: NIOLoopBound<StreamingExchange>
  let loop: any EventLoop

  func next() async throws(Status) -> ReceivedMessage? {
    try await mailbox.next { loop.execute { exchange.value.received() } }
  }

  func send(_ message: [UInt8], compression: MessageCompression) async throws(Status) {
    try await mailbox.sending { resume in
      loop.execute {
        if exchange.value.send(message, compression: compression) { resume() }
      }
    }
  }

  func begin() async { loop.execute { exchange.value.begin() } }

  func attach(initial: Metadata, trailing: Metadata) async {
    loop.execute { exchange.value.attach(initial: initial, trailing: trailing) }
  }
}
