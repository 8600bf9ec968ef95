internal import HTTP
internal import HTTP2
internal import NIOCore
internal import RPC

/// Receives the response to one request, on the event loop of the connection.
protocol ClientExchange: AnyObject {
  /// Called when header fields or a part of the body arrived.
  func received(_ id: StreamID, _ session: Session)
  /// Called when the response is complete. The session releases it after the call.
  func ended(_ id: StreamID, _ session: Session)
  /// Called when the socket has accepted all bytes of the request.
  func drained()
  /// Called when there will be no response, with the reason if there is one.
  func lost(_ reason: String?)
}

/// The connection ended before the response.
struct LostConnection: Error {
  /// `nil` if nothing states why.
  let reason: String?
}

/// Collects the response of a unary call.
final class UnaryResponse: ClientExchange {
  private let promise: EventLoopPromise<ClientResponse>

  /// Completes the promise with the response, or fails it with ``LostConnection``.
  init(_ promise: EventLoopPromise<ClientResponse>) { self.promise = promise }

  func received(_ id: StreamID, _ session: Session) {
    // There is no size limit, because the client trusts its own server.
    session.allowMore(session.inboundCount(of: id), on: id)
  }

  func ended(_ id: StreamID, _ session: Session) {
    promise.succeed(
      ClientResponse(
        head: session.head(of: id) ?? HeaderFields(),
        body: session.inbound(of: id) ?? [],
        trailers: session.trailers(of: id) ?? HeaderFields()))
  }

  func drained() {}

  func lost(_ reason: String?) { promise.fail(LostConnection(reason: reason)) }
}

/// Passes the messages of a streaming call to a mailbox.
final class StreamingResponse: ClientExchange {
  private let mailbox: MessageMailbox
  private let messageLimit: Int
  /// The number of bytes consumed from the session, and the number for which the flow-control window was extended.
  private var consumed = 0
  private var credited = 0

  /// Delivers messages of at most `messageLimit` bytes; a longer one fails the call.
  init(_ mailbox: MessageMailbox, messageLimit: Int) {
    self.mailbox = mailbox
    self.messageLimit = messageLimit
  }

  func received(_ id: StreamID, _ session: Session) {
    guard deliverMessages(id, session) else { return }
    let received = consumed + session.inboundCount(of: id)
    session.allowMore(received - credited, on: id)
    credited = received
  }

  func ended(_ id: StreamID, _ session: Session) {
    // The session releases the stream after this call.
    deliverMessages(id, session, areLast: true)
    let trailers = session.trailers(of: id).flatMap(Status.init(fields:))
    let status = trailers ?? session.head(of: id).flatMap(Status.init(fields:))
    if status?.code == .ok { return mailbox.finish() }
    mailbox.fail(status ?? Status(.unknown, "the response is not gRPC"))
  }

  /// Delivers the complete messages. Returns whether the mailbox had room for all of them.
  @discardableResult
  private func deliverMessages(_ id: StreamID, _ session: Session, areLast: Bool = false) -> Bool {
    var result = (used: 0, isComplete: true)
    session.withInbound(of: id) { bytes in
      do throws(FramingError) {
        result = try mailbox.fill(from: bytes, encoding: .gzip, limit: messageLimit, areLast: areLast)
      } catch {
        mailbox.fail(Status(error))
      }
    }
    session.removeInbound(result.used, of: id)
    consumed += result.used
    return result.isComplete
  }

  func drained() { mailbox.resumeSender() }

  func lost(_ reason: String?) {
    mailbox.fail(Status(.unavailable, "the connection was lost" + (reason.map { ": \($0)" } ?? "")))
  }
}
