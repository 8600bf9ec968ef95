internal import HTTP2
internal import NIOCore
internal import RPC
package import Wire

/// The client's side of one streaming call: any number of messages each way, in whatever order.
///
/// Both sides slow each other down: sending waits while the server does not take what was sent, and the
/// server waits while the answers are not taken. Answers come as a sequence that is gone through once.
package struct ClientStream<Request: WireMessage, Response: WireMessage>: Sendable {
  fileprivate let wire: WireStream

  /// Sends a message.
  ///
  /// - Throws: ``ClientError/failed(_:)`` when the call is over.
  package func send(_ request: Request) async throws(ClientError) {
    let bytes = request.encodedBytes()
    do throws(Status) {
      try await wire.send(bytes)
    } catch {
      throw .failed(error)
    }
  }

  /// Says that there will be no more requests.
  package func finish() { wire.finish() }

  /// The next answer, or `nil` when the server has ended the call with OK.
  ///
  /// - Throws: ``ClientError/failed(_:)`` when the call ended otherwise.
  package func next() async throws(ClientError) -> Response? {
    let message: ReceivedMessage?
    do throws(Status) {
      message = try await wire.next()
    } catch {
      throw .failed(error)
    }
    guard let message else { return nil }
    do throws(WireError) {
      return try Response.decode(message.bytes)
    } catch {
      throw .notGRPC("its answer cannot be read: \(error)")
    }
  }
}

extension ClientConnection {
  /// Makes a streaming call to `path`, which is `/package.Service/Method`, for as long as `body` runs; a call
  /// that has no end by then is given up. Without `timeoutSeconds` it may go on for ever.
  ///
  /// - Throws: what `body` throws.
  package func withStream<Request: WireMessage, Response: WireMessage, Result>(
    _ path: String, timeoutSeconds: Int64? = nil,
    _ body: (ClientStream<Request, Response>) async throws -> Result
  ) async throws -> Result {
    let fields = requestFields("POST", path, callHeaders(timeoutSeconds: timeoutSeconds))
    let mailbox = MessageMailbox(backlogBytes: 128 * 1_024)
    let id = try await channel.eventLoop.submit {
      handler.value.open(fields, StreamingResponse(mailbox, messageLimit: Self.streamedMessageLimit))
    }.get()
    let stream = ClientStream<Request, Response>(
      wire: WireStream(loop: channel.eventLoop, handler: handler, mailbox: mailbox, id: id))
    defer { stream.wire.cancel() }
    return try await withTaskCancellationHandler {
      try await body(stream)
    } onCancel: {
      stream.wire.cancel()
    }
  }

  /// The server is one's own; this only keeps a broken one from taking all memory.
  private static var streamedMessageLimit: Int { 64 << 20 }
}

/// A stream's bytes, whatever its messages are.
private struct WireStream: Sendable {
  let loop: any EventLoop
  let handler: NIOLoopBound<ClientHandler>
  let mailbox: MessageMailbox
  /// `nil`: the stream could not be opened, which the mailbox tells.
  let id: StreamID?

  func send(_ message: [UInt8]) async throws(Status) {
    try await mailbox.sending { resume in
      guard let id else { return }
      loop.execute {
        let mayGoOn = handler.value.send(id) { MessageFrame.append(message, to: &$0, encoding: .identity) }
        if mayGoOn { resume() }
      }
    }
  }

  func finish() {
    guard let id else { return }
    loop.execute { handler.value.finish(id) }
  }

  func next() async throws(Status) -> ReceivedMessage? {
    try await mailbox.next {
      guard let id else { return }
      loop.execute { handler.value.resume(id) }
    }
  }

  func cancel() {
    mailbox.fail(Status(.cancelled, "the call was given up"))
    guard let id else { return }
    loop.execute { handler.value.cancel(id) }
  }
}
