package import Wire

/// The messages that the caller of a streaming method sends: a sequence that is gone through once.
///
/// Whoever takes them slowly slows the caller down: beyond a backlog it is not allowed to send more. The
/// sequence throws `CANCELLED` or `DEADLINE_EXCEEDED` when the call is over, and `INVALID_ARGUMENT` at a
/// message that is none.
package struct RequestReader<Request: WireMessage>: AsyncSequence, AsyncIteratorProtocol, Sendable {
  package typealias Element = Request
  package typealias Failure = Status

  let stream: any MessageStream

  /// The next one, or `nil` when there will be no more.
  package func next() async throws(Status) -> Request? { try await nextReceived()?.request }

  package mutating func next(
    isolation actor: isolated (any Actor)?
  ) async throws(Status) -> Request? {
    try await nextReceived()?.request
  }

  /// The next one, and whether it was packed on its way.
  package func nextReceived() async throws(Status) -> (request: Request, wasCompressed: Bool)? {
    guard let message = try await stream.next() else { return nil }
    return (try Request.decoded(from: message.bytes), message.wasCompressed)
  }

  package func makeAsyncIterator() -> RequestReader { self }
}
