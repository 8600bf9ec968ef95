internal import NIOCore
internal import RPC
internal import Synchronization

/// The gRPC methods of each event loop, made when its first connection comes.
final class LoopHosts: Sendable {
  private let make: @Sendable (any EventLoop) -> CallHost
  private let hosts = Mutex<[ObjectIdentifier: NIOLoopBound<CallHost>]>([:])

  init(make: @escaping @Sendable (any EventLoop) -> CallHost) {
    self.make = make
  }

  /// The host of the loop that this is called on.
  func host(of loop: any EventLoop) -> CallHost {
    let key = ObjectIdentifier(loop)
    if let known = hosts.withLock({ $0[key] }) { return known.value }
    // Only this loop asks for this key, so nobody makes the same host meanwhile.
    let host = NIOLoopBound(make(loop), eventLoop: loop)
    hosts.withLock { $0[key] = host }
    return host.value
  }
}
