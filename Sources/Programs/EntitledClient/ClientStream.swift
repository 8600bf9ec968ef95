internal import HTTP2
internal import NIOCore
internal import RPC
package import Wire

/// The client side of one streaming call, with any number of messages in both directions.
///
/// Backpressure works both ways: ``send(_:)`` waits while the server does not read, and the server waits while the
/// caller does not call ``next()``.
package struct ClientStream<Request: WireMessage, Response: WireMessage>: Sendable {
  fileprivate let wire: WireStream

  /// Sends a message.
  ///
  /// - Throws: ``ClientError/failed(_:)`` if the call has ended.
  package func send(_ request: Request) async throws(ClientError) {
    let bytes = request.encodedBytes()
    do throws(Status) {
      try await wire.send(bytes)
    } catch {
      throw .failed(error)
    }
  }

  /// Ends the stream of requests.
  package func finish() { wire.finish() }

  /// Returns the next response; `nil` after the server has ended the call with OK.
  ///
  /// - Throws: ``ClientError/failed(_:)`` if the call ended with another status.
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
      throw .notGRPC("the response cannot be decoded: \(error)")
    }
  }
}

extension ClientConnection {
  /// Makes a streaming call to `path`, which is `/package.Service/Method`, while `body` runs, and cancels the call
  /// if it is still open then. Without `timeoutSeconds`, the call has no deadline.
  ///
  /// - Throws: the errors of `body`.
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

  /// Limits the memory that a defective server can take.
  private static var streamedMessageLimit: Int { 64 << 20 }
}

/// The stream without the types of its messages.
private struct WireStream: Sendable {
  let loop: any EventLoop
  let handler: NIOLoopBound<ClientHandler>
  let mailbox: MessageMailbox
  /// `nil` if the stream could not be opened; the mailbox then has failed.
  let id: StreamID?

  /// Sends a message when the socket has accepted most of those before it.
  func send(_ message: [UInt8]) async throws(Status) {
    try await mailbox.sending { resume in
      guard let id else { return }
      loop.execute {
        let mayContinue = handler.value.send(id) {
          MessageFrame.append(message, to: &$0, encoding: .identity)
        }
        if mayContinue { resume() }
      }
    }
  }

  /// Ends the stream of requests; without effect if the stream could not be opened.
  func finish() {
    guard let id else { return }
    loop.execute { handler.value.finish(id) }
  }

  /// Waits for the next message, and lets the server send more when it is read.
  func next() async throws(Status) -> ReceivedMessage? {
    try await mailbox.next {
      guard let id else { return }
      loop.execute { handler.value.resume(id) }
    }
  }

  /// Fails the mailbox and resets the stream. After the end of the call, it changes nothing.
  func cancel() {
    mailbox.fail(Status(.cancelled, "the client cancelled the call"))
    guard let id else { return }
    loop.execute { handler.value.cancel(id) }
  }
}
