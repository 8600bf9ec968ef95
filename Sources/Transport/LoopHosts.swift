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
  private let tick: TimeAmount
  /// The connections that are looked at as time goes by.
  private var timed: [ObjectIdentifier: any TimedConnection] = [:]
  private var ticking: RepeatedTask?
  private var isInTurn = false
  /// The connections that have something to say, in the order in which they were served.
  private var speaking: [HTTP2Handler] = []

  init(_ host: CallHost, on loop: any EventLoop, tick: TimeAmount) {
    self.host = host
    self.loop = loop
    self.tick = tick
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

  /// Begins to look at a connection at intervals, with all others of the loop: one timer for all.
  func watch(_ connection: any TimedConnection) {
    timed[ObjectIdentifier(connection)] = connection
    guard ticking == nil else { return }
    let bound = NIOLoopBound(self, eventLoop: loop)
    ticking = loop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in bound.value.look() }
  }

  func unwatch(_ connection: any TimedConnection) {
    timed[ObjectIdentifier(connection)] = nil
    guard timed.isEmpty else { return }
    ticking?.cancel()
    ticking = nil
  }

  private func look() {
    let now = NIODeadline.now()
    // Looking may close a connection, which then leaves.
    for connection in Array(timed.values) { connection.tick(now) }
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

/// A connection that does something as time goes by. Called on its loop.
protocol TimedConnection: AnyObject {
  func tick(_ now: NIODeadline)
}

/// The host of each event loop, made when its first connection comes.
final class LoopHosts: Sendable {
  private let make: @Sendable (any EventLoop) -> CallHost
  private let tick: TimeAmount
  private let hosts = Mutex<[ObjectIdentifier: NIOLoopBound<LoopHost>]>([:])

  init(make: @escaping @Sendable (any EventLoop) -> CallHost, tick: TimeAmount) {
    self.make = make
    self.tick = tick
  }

  /// The host of the loop that this is called on.
  func host(of loop: any EventLoop) -> LoopHost {
    let key = ObjectIdentifier(loop)
    if let known = hosts.withLock({ $0[key] }) { return known.value }
    // Only this loop asks for this key, so nobody makes the same host meanwhile.
    let host = NIOLoopBound(LoopHost(make(loop), on: loop, tick: tick), eventLoop: loop)
    hosts.withLock { $0[key] = host }
    return host.value
  }
}
