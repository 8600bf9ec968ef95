internal import Glibc
internal import NIOCore

/// How a port closes without losing anybody who is already in.
///
/// The system shakes hands with clients before the process hears of them, and closing a socket resets all who
/// wait in its queue: they believe to be connected, and may have sent a call. So first nobody new is let in, those on the
/// threshold are accepted, and only then the socket is closed.
struct ListenerCloser {
  let channel: any Channel
  /// Whether another process goes on with the socket's queue.
  let isInherited: Bool

  /// Returns when the socket may be closed.
  func close() async {
    if isInherited {
      // What is in the queue is for the next process.
      try? await channel.setOption(.autoRead, value: false).get()
    } else {
      await ignoreNewConnections()
    }
    try? await channel.eventLoop.scheduleTask(in: Self.threshold) {}.futureResult.get()
  }

  /// How long a handshake may take that has begun, and a connection from being accepted to being served.
  private static let threshold = TimeAmount.milliseconds(50)

  /// Has the system drop the first packet of every new connection (TCP's SYN), as if it had been lost on the way: the client
  /// sends it again a second later, and meets who listens then. Where that is not allowed, the door closes
  /// a little less quietly.
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
