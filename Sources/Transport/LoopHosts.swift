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
    loop.execute {
      bound.value.isInTurn = false
      bound.value.host.endTurn()
    }
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
