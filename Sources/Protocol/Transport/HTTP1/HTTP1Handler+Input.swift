internal import NIOCore
internal import NIOHTTP1

// Reads costly input in parts, so that it does not occupy the loop.
extension HTTP1Handler: DelayedConnection {
  /// Counts a part of a body, also of one that is not kept.
  func countBody(_ bytes: Int, _ context: ChannelHandlerContext) {
    addWork(bytes + Self.costOfPart, context)
  }

  /// Counts work for the peer, in bytes of a body. After much of it the rest of the input waits.
  func addWork(_ bytes: Int, _ context: ChannelHandlerContext) {
    work += bytes
    guard work >= Self.workAtOnce, !isDelayed, self.context != nil else { return }
    isDelayed = true
    updateInput()
    try? context.channel.syncOptions?.setOption(.autoRead, value: false)
    host.delayedInput.readLater(self, after: Self.timeOfReading)
  }

  func readDelayed() {
    isDelayed = false
    work = 0
    updateInput()
    guard !isDelayed else { return }
    try? context?.channel.syncOptions?.setOption(.autoRead, value: true)
  }

  /// Lets input wait while the body of a request is costly, and while a request is complete and its response is not.
  func updateInput() { input.setPaused(isDelayed || isResponding) }

  /// Unless it waits again, it reads on from the socket.
  var unmeasuredTime: TimeAmount { isDelayed ? .zero : Self.timeOfReading }

  /// Removes NIO's response to invalid input. What follows the last request is ignored, whatever it is (RFC 9112,
  /// section 9.6): an invalid rest in the same read would get a second response.
  func ignoreFurtherInput(_ context: ChannelHandlerContext) {
    let operations = context.pipeline.syncOperations
    guard let handler = try? operations.handler(type: HTTPServerProtocolErrorHandler.self) else { return }
    operations.removeHandler(handler, promise: nil)
  }

  private static let timeOfReading = TimeAmount.microseconds(100)
  private static let workAtOnce = 128 * 1_024
  /// The cost of a part, however small, in bytes.
  private static let costOfPart = 512
}

/// In bytes.
private let smallBody = 64 * 1_024

extension [UInt8] {
  /// Makes room for the next part of a body. Once much of a large body has arrived, it gets room for all of it at once:
  /// growing step by step would copy it several times.
  mutating func reserve(_ bytes: Int, of request: HTTPRequestHead) {
    guard count <= smallBody, count + bytes > smallBody,
      let length = request.headers.first(name: "content-length").flatMap({ Int($0) })
    else { return }
    // A request with more than the limit is refused before.
    reserveCapacity(length)
  }
}
