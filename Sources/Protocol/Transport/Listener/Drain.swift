internal import Glibc
internal import NIOCore
internal import Synchronization

/// Whether a listener drains; its connections on all event loops read it.
final class DrainState: Sendable {
  private let begun = Atomic<Bool>(false)

  var hasBegun: Bool { begun.load(ordering: .relaxed) }

  func begin() { begun.store(true, ordering: .relaxed) }
}

/// Asks an HTTP/1.1 connection to drain. NIO's handlers after this one would close an idle connection at
/// once, and lose a request in flight.
final class DrainHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    context.fireUserInboundEventTriggered(event is ChannelShouldQuiesceEvent ? DrainEvent() : event)
  }
}

/// The event that ``DrainHandler`` fires instead of `ChannelShouldQuiesceEvent`.
struct DrainEvent {}

/// Closes a listening socket without losing connections.
///
/// The kernel completes handshakes before the process accepts them, and resets the connections in the queue
/// of a closed socket, which may already carry a call. So new connections are blocked first, those in the
/// queue are accepted, and only then the socket is closed.
struct ListenerCloser {
  let channel: any Channel
  /// Whether another process continues with the queue of the socket.
  let isInherited: Bool

  /// Returns when the socket can be closed.
  func close() async {
    if isInherited {
      // The queue is for the next process.
      try? await channel.setOption(.autoRead, value: false).get()
    } else {
      await ignoreNewConnections()
    }
    try? await channel.eventLoop.scheduleTask(in: Self.acceptGrace) {}.futureResult.get()
  }

  /// The time for handshakes in progress and for accepted connections to be served.
  private static let acceptGrace = TimeAmount.milliseconds(50)

  /// Makes the kernel drop the SYN of new connections, as if it were lost: the client retransmits it a second
  /// later and reaches the next listener. Where that is not permitted, such connections are reset.
  private func ignoreNewConnections() async {
    guard let options = channel as? any SocketOptionProvider else { return }
    let filter = UnsafeMutablePointer<FilterInstruction>.allocate(capacity: Self.filter.count)
    filter.initialize(from: Self.filter, count: Self.filter.count)
    defer { filter.deallocate() }
    let program = FilterProgram(
      count: UInt16(Self.filter.count), instructions: UInt(bitPattern: filter))
    try? await options.unsafeSetSocketOption(
      level: .socket, name: NIOBSDSocket.Option(rawValue: SO_ATTACH_FILTER), value: program
    ).get()
  }

  /// Classic BPF over a TCP segment: byte 13 has the flags, 2 is SYN.
  private static let filter = [
    FilterInstruction(code: 0x30, ifTrue: 0, ifFalse: 0, operand: 13),  // load the byte
    FilterInstruction(code: 0x45, ifTrue: 0, ifFalse: 1, operand: 2),  // is any of these bits set?
    FilterInstruction(code: 0x06, ifTrue: 0, ifFalse: 0, operand: 0),  // drop it
    FilterInstruction(code: 0x06, ifTrue: 0, ifFalse: 0, operand: .max),  // take all of it
  ]
}

/// Linux's `struct sock_filter`, which its C library does not have.
private struct FilterInstruction {
  var code: UInt16
  var ifTrue: UInt8
  var ifFalse: UInt8
  var operand: UInt32
}

/// Linux's `struct sock_fprog`.
private struct FilterProgram: Sendable {
  var count: UInt16
  var instructions: UInt
}
