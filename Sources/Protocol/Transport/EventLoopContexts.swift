internal import NIOCore
internal import RPC
internal import Synchronization

/// The gRPC methods of one event loop, and the turns of that loop.
///
/// A turn is all that the loop does between two waits, for however many connections: whatever handlers
/// keep open for its length (a read transaction) is opened once for all of them. Confined to its loop.
final class EventLoopContext {
  private let host: MethodHost
  private let loop: any EventLoop
  private let tick: TimeAmount
  /// The connections that are looked at as time goes by.
  private var timed: [ObjectIdentifier: any TimedConnection] = [:]
  private var ticking: RepeatedTask?
  private var isInTurn = false
  /// Calls that were open when the connections were last looked at. Other threads read it.
  let openStreams: OpenStreams
  /// The connections that have something to say, in the order in which they were served.
  private var speaking: [HTTP2Handler] = []

  init(_ host: MethodHost, on loop: any EventLoop, tick: TimeAmount, openStreams: OpenStreams) {
    self.host = host
    self.loop = loop
    self.tick = tick
    self.openStreams = openStreams
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
    openStreams.count = 0
  }

  private func look() {
    let now = NIODeadline.now()
    // Looking may close a connection, which then leaves.
    for connection in Array(timed.values) { connection.tick(now) }
    openStreams.count = timed.values.reduce(0) { $0 + $1.openStreams }
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

  /// Calls that are open on it.
  var openStreams: Int { get }
}

/// How many calls were open on the connections of one event loop when it last looked.
final class OpenStreams: Sendable {
  private let number = Atomic<Int>(0)

  var count: Int {
    get { number.load(ordering: .relaxed) }
    set { number.store(newValue, ordering: .relaxed) }
  }
}

/// The host of each event loop, made when its first connection comes.
final class EventLoopContexts: Sendable {
  private let make: @Sendable (any EventLoop) -> MethodHost
  private let tick: TimeAmount
  private struct Entry: Sendable {
    let host: NIOLoopBound<EventLoopContext>
    let openStreams: OpenStreams
  }

  private let hosts = Mutex<[ObjectIdentifier: Entry]>([:])

  init(make: @escaping @Sendable (any EventLoop) -> MethodHost, tick: TimeAmount) {
    self.make = make
    self.tick = tick
  }

  /// How many calls are open on all loops' connections.
  var openStreams: Int { hosts.withLock { $0.values.reduce(0) { $0 + $1.openStreams.count } } }

  /// The host of the loop that this is called on.
  func host(of loop: any EventLoop) -> EventLoopContext {
    let key = ObjectIdentifier(loop)
    if let known = hosts.withLock({ $0[key] }) { return known.host.value }
    // Only this loop asks for this key, so nobody makes the same host meanwhile.
    let openStreams = OpenStreams()
    let host = NIOLoopBound(
      EventLoopContext(make(loop), on: loop, tick: tick, openStreams: openStreams), eventLoop: loop)
    hosts.withLock { $0[key] = Entry(host: host, openStreams: openStreams) }
    return host.value
  }
}
