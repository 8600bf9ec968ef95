internal import HTTP
internal import HTTP2
internal import NIOCore
internal import RPC

/// One request on its way, on the connection's loop: what becomes of its answer.
protocol ClientExchange: AnyObject {
  /// More of the answer's body came, or its header fields.
  func received(_ id: StreamID, _ session: Session)
  /// The answer is whole; it can be looked at during the call.
  func ended(_ id: StreamID, _ session: Session)
  /// All that was given to send has gone to the socket.
  func drained()
  /// There will be no answer.
  func lost()
}

/// An answer that is waited for as a whole.
final class UnaryResponse: ClientExchange {
  private let promise: EventLoopPromise<ClientResponse>

  init(_ promise: EventLoopPromise<ClientResponse>) { self.promise = promise }

  func received(_ id: StreamID, _ session: Session) {
    // Only the size of an answer that never ends could do harm, and the server is one's own.
    session.allowMore(session.inboundCount(of: id), on: id)
  }

  func ended(_ id: StreamID, _ session: Session) {
    promise.succeed(
      ClientResponse(
        head: session.head(of: id) ?? HeaderFields(),
        body: session.inbound(of: id),
        trailers: session.trailers(of: id) ?? HeaderFields()))
  }

  func drained() {}

  func lost() { promise.fail(ChannelError.eof) }
}

/// A call with any number of messages each way.
final class StreamingResponse: ClientExchange {
  private let mailbox: MessageMailbox
  private let messageLimit: Int
  /// Bytes that were taken off the session, and those that the server was allowed to replace.
  private var taken = 0
  private var allowed = 0

  init(_ mailbox: MessageMailbox, messageLimit: Int) {
    self.mailbox = mailbox
    self.messageLimit = messageLimit
  }

  func received(_ id: StreamID, _ session: Session) {
    guard deliverMessages(id, session) else { return }
    let arrived = taken + session.inboundCount(of: id)
    session.allowMore(arrived - allowed, on: id)
    allowed = arrived
  }

  func ended(_ id: StreamID, _ session: Session) {
    // The session forgets the stream after this.
    deliverMessages(id, session, areLast: true)
    let trailers = session.trailers(of: id).flatMap(Status.init(fields:))
    let status = trailers ?? session.head(of: id).flatMap(Status.init(fields:))
    if status?.code == .ok { return mailbox.finish() }
    mailbox.fail(status ?? Status(.unknown, "the server's answer is not gRPC"))
  }

  /// Hands over the whole messages that came; answers whether there was room for all.
  @discardableResult
  private func deliverMessages(_ id: StreamID, _ session: Session, areLast: Bool = false) -> Bool {
    var outcome = (used: 0, isComplete: true)
    session.withInbound(of: id) { bytes in
      do throws(FramingError) {
        outcome = try mailbox.fill(from: bytes, encoding: .gzip, limit: messageLimit, areLast: areLast)
      } catch {
        mailbox.fail(Status(error))
      }
    }
    session.removeInbound(outcome.used, of: id)
    taken += outcome.used
    return outcome.isComplete
  }

  func drained() { mailbox.resumeSender() }

  func lost() { mailbox.fail(Status(.unavailable, "the connection was lost")) }
}
