package import Wire

/// Where the messages of a streaming method go.
package struct ResponseWriter<Response: WireMessage>: Sendable {
  let stream: any MessageStream

  /// Sends one; waits while the caller is slow.
  package func write(_ response: Response, compression: MessageCompression = .likeRequest)
    async throws(Status)
  {
    try await stream.send(response.encodedBytes(), compression: compression)
  }

  /// Says what goes in front of the first message, and beside the status behind the last one.
  package func attach(initial: Metadata = Metadata(), trailing: Metadata = Metadata()) async {
    await stream.attach(initial: initial, trailing: trailing)
  }
}
