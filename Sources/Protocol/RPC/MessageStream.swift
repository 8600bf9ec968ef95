/// The two directions of a streaming call, as its handler sees them.
package protocol MessageStream: Sendable {
  /// The caller's next message, or `nil` when it will send no more. Waits until there is one.
  ///
  /// - Throws: `CANCELLED` or `DEADLINE_EXCEEDED` when the call is over.
  func next() async throws(Status) -> ReceivedMessage?

  /// Sends a message. Waits while the caller takes what was sent before too slowly.
  ///
  /// - Throws: `CANCELLED` or `DEADLINE_EXCEEDED` when the call is over.
  func send(_ message: [UInt8], compression: MessageCompression) async throws(Status)

  /// Says what is sent in front of the first message and behind the last one beside the status. The former
  /// counts only before the first message.
  func attach(initial: Metadata, trailing: Metadata) async
}

/// A message as it came: unpacked, without its frame.
package struct ReceivedMessage: Hashable, Sendable {
  /// The serialized message.
  package let bytes: [UInt8]
  /// Whether it was packed on its way.
  package let wasCompressed: Bool

  package init(_ bytes: [UInt8], wasCompressed: Bool = false) {
    self.bytes = bytes
    self.wasCompressed = wasCompressed
  }
}

/// Whether a message that we send is packed. One that its caller could not unpack never is.
package enum MessageCompression: Hashable, Sendable {
  /// As the request was.
  case likeRequest
  case always
  case never
}
