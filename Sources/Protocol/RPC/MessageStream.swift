package import Wire

/// Both directions of a streaming call, as its handler uses them.
package protocol MessageStream: Sendable {
  /// Waits for the caller's next message; `nil` after the last one.
  ///
  /// - Throws: `CANCELLED` or `DEADLINE_EXCEEDED` when the call is over.
  func next() async throws(Status) -> ReceivedMessage?

  /// Sends a message. Waits while the caller reads too slowly.
  ///
  /// - Throws: `CANCELLED` or `DEADLINE_EXCEEDED` when the call is over.
  func send(_ message: [UInt8], compression: MessageCompression) async throws(Status)

  /// Sets the metadata before the first message, if none was sent yet, and after the last one.
  func attach(initial: Metadata, trailing: Metadata) async

  /// Sends the header fields now, if they were not sent yet, instead of with the first message.
  func begin() async
}

extension MessageStream {
  /// Sends nothing: the header fields go out with the first message.
  package func begin() async {}
}

/// A received message, decompressed and without its frame.
package struct ReceivedMessage: Hashable, Sendable {
  /// The serialized message.
  package let bytes: [UInt8]
  /// Whether it arrived compressed.
  package let wasCompressed: Bool

  package init(_ bytes: [UInt8], wasCompressed: Bool = false) {
    self.bytes = bytes
    self.wasCompressed = wasCompressed
  }
}

/// Whether an outgoing message is compressed. It never is if the caller does not accept that.
package enum MessageCompression: Hashable, Sendable {
  /// If the last request message was compressed.
  case likeRequest
  /// Whatever the request was.
  case always
  /// Whatever the caller accepts.
  case never
}

/// The request messages of a streaming call: a sequence for one iteration.
///
/// A slow reader slows the caller down by backpressure. The sequence throws `CANCELLED` or
/// `DEADLINE_EXCEEDED` after the end of the call, and `INVALID_ARGUMENT` for a malformed message.
package struct RequestReader<Request: WireMessage>: AsyncSequence, AsyncIteratorProtocol, Sendable {
  package typealias Element = Request
  package typealias Failure = Status

  let stream: any MessageStream

  /// The next message; `nil` after the last one.
  ///
  /// - Throws: `CANCELLED`, `DEADLINE_EXCEEDED`, or `INVALID_ARGUMENT` for a malformed message.
  package func next() async throws(Status) -> Request? { try await nextReceived()?.request }

  package mutating func next(
    isolation actor: isolated (any Actor)?
  ) async throws(Status) -> Request? {
    try await nextReceived()?.request
  }

  /// The next message, and whether it arrived compressed; `nil` after the last one.
  ///
  /// - Throws: as ``next()``.
  package func nextReceived() async throws(Status) -> (request: Request, wasCompressed: Bool)? {
    guard let message = try await stream.next() else { return nil }
    return (try Request.decoded(from: message.bytes), message.wasCompressed)
  }

  package func makeAsyncIterator() -> RequestReader { self }
}

/// Sends the response messages of a streaming call.
package struct ResponseWriter<Response: WireMessage>: Sendable {
  let stream: any MessageStream

  /// Sends a message; waits while the caller reads too slowly.
  ///
  /// - Throws: `CANCELLED` or `DEADLINE_EXCEEDED` when the call is over.
  package func write(_ response: Response, compression: MessageCompression = .likeRequest)
    async throws(Status)
  {
    try await stream.send(response.encodedBytes(), compression: compression)
  }

  /// Sends the header fields now, so that the caller of a stream without messages learns that it is accepted.
  package func begin() async { await stream.begin() }

  /// Sets the metadata before the first message and after the last one.
  package func attach(initial: Metadata = Metadata(), trailing: Metadata = Metadata()) async {
    await stream.attach(initial: initial, trailing: trailing)
  }
}
