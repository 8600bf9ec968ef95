internal import NIOCore
internal import RPC
internal import Synchronization

/// The gRPC methods of one event loop, and the turns of that loop.
///
/// A turn is all that the loop does between two waits, for however many connections: whatever handlers
/// keep open for its length (a read transaction) is opened once for all of them. Confined to its loop.
final class LoopHost {
  private let host: CallHost
  private let loop: any EventLoop
  private var isInTurn = false
  /// The connections that have something to say, in the order in which they were served.
  private var speaking: [HTTP2Handler] = []

  init(_ host: CallHost, on loop: any EventLoop) {
    self.host = host
    self.loop = loop
  }

  var methods: MethodTable { host.methods }

  /// A handler is about to be called. The turn ends when the loop has served all connections that were
  /// ready: what is executed on it runs after them.
  func turnBegan() {
    guard !isInTurn else { return }
    isInTurn = true
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute { bound.value.turnEnded() }
  }

  /// Sends what a connection has to say when the turn ends. All connections send at once, so that a peer
  /// with many of them is woken once and not for each: waking costs more than the call.
  func speakAtEndOfTurn(_ connection: HTTP2Handler) {
    turnBegan()
    speaking.append(connection)
  }

  private func turnEnded() {
    isInTurn = false
    host.endTurn()
    var connections: [HTTP2Handler] = []
    swap(&connections, &speaking)
    for connection in connections { connection.flush() }
    // The memory goes back for the next turn, unless one began while sending.
    connections.removeAll(keepingCapacity: true)
    if speaking.isEmpty { swap(&connections, &speaking) }
  }
}

/// The host of each event loop, made when its first connection comes.
final class LoopHosts: Sendable {
  private let make: @Sendable (any EventLoop) -> CallHost
  private let hosts = Mutex<[ObjectIdentifier: NIOLoopBound<LoopHost>]>([:])

  init(make: @escaping @Sendable (any EventLoop) -> CallHost) { self.make = make }

  /// The host of the loop that this is called on.
  func host(of loop: any EventLoop) -> LoopHost {
    let key = ObjectIdentifier(loop)
    if let known = hosts.withLock({ $0[key] }) { return known.value }
    // Only this loop asks for this key, so nobody makes the same host meanwhile.
    let host = NIOLoopBound(LoopHost(make(loop), on: loop), eventLoop: loop)
    hosts.withLock { $0[key] = host }
    return host.value
  }
}
