internal import NIOCore
internal import RPC
internal import Synchronization

/// The gRPC methods of one event loop, and the ticks of that loop.
///
/// A tick is one pass of the loop over its ready connections. Handlers share what they open for a tick, such
/// as a read transaction. Confined to its loop.
final class EventLoopContext {
  private let host: MethodHost
  private let loop: any EventLoop
  private let tick: TimeAmount
  /// Receives the results of background work for this loop.
  let mailbox: LoopMailbox
  /// The timeouts of calls and connections.
  let timers: LoopTimers
  /// The connections with timeouts.
  private var timed: [ObjectIdentifier: any TimedConnection] = [:]
  private var ticking: RepeatedTask?
  private var isInTick = false
  /// The number of open calls at the last check. Other threads read it.
  let openStreams: OpenStreams
  /// The connections with output, in the order in which they were served.
  private var waitingToFlush: [HTTP2Handler] = []
  private var outputBuffer: [UInt8] = []
  /// The connections whose input waits.
  let delayedInput: DelayedInput

  init(_ host: MethodHost, on loop: any EventLoop, tick: TimeAmount, openStreams: OpenStreams) {
    self.host = host
    self.loop = loop
    self.tick = tick
    mailbox = LoopMailbox(loop)
    timers = LoopTimers(loop)
    delayedInput = DelayedInput(loop)
    self.openStreams = openStreams
  }

  var methods: MethodTable { host.methods }

  /// Starts a tick before a handler is called. It ends when the loop has served all ready connections,
  /// because executed work runs after them.
  func tickBegan() {
    guard !isInTick else { return }
    isInTick = true
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute { bound.value.tickEnded() }
  }

  /// Flushes a connection at the end of the tick. All connections flush together, so that a peer with many of
  /// them wakes once: waking costs more than the call.
  ///
  /// Many of them flush in groups, so that a response does not wait until all other connections are served.
  func flushAtEndOfTick(_ connection: HTTP2Handler) {
    tickBegan()
    waitingToFlush.append(connection)
    if waitingToFlush.count >= Self.flushedTogether { flushWaiting() }
  }

  /// Lets a connection whose turn has ended read on after the connections that are ready by then.
  func readNext(_ connection: any DelayedConnection) {
    tickBegan()
    delayedInput.readNext(connection)
  }

  /// The number of connections in a group that flushes together.
  private static let flushedTogether = 32

  /// Takes the memory in which a connection collects its output; all connections share it.
  func takeOutputBuffer() -> [UInt8] {
    var buffer: [UInt8] = []
    swap(&buffer, &outputBuffer)
    return buffer
  }

  /// Returns the memory of ``takeOutputBuffer()``.
  func returnOutputBuffer(_ buffer: inout [UInt8]) { swap(&buffer, &outputBuffer) }

  /// Checks a connection at intervals. All connections of the loop share one timer.
  func watch(_ connection: any TimedConnection) {
    timed[ObjectIdentifier(connection)] = connection
    guard ticking == nil else { return }
    let bound = NIOLoopBound(self, eventLoop: loop)
    ticking = loop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in bound.value.checkConnections()
    }
  }

  func unwatch(_ connection: any TimedConnection) {
    timed[ObjectIdentifier(connection)] = nil
    guard timed.isEmpty else { return }
    ticking?.cancel()
    ticking = nil
    openStreams.count = 0
  }

  /// Opens what the handlers lack, now and every second until they have it.
  func recover() {
    guard !host.recover() else { return }
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: .seconds(1)) { bound.value.recover() }
  }

  private func checkConnections() {
    let now = NIODeadline.now()
    // A check may close a connection, which then removes itself.
    for connection in Array(timed.values) { connection.tick(now) }
    openStreams.count = timed.values.reduce(0) { $0 + $1.openStreams }
  }

  private func tickEnded() {
    isInTick = false
    host.endTick()
    flushWaiting()
    delayedInput.tickEnded()
  }

  private func flushWaiting() {
    var connections: [HTTP2Handler] = []
    swap(&connections, &waitingToFlush)
    for connection in connections { connection.flush() }
    // The next ones reuse the memory, unless some have come during the flush.
    connections.removeAll(keepingCapacity: true)
    if waitingToFlush.isEmpty { swap(&connections, &waitingToFlush) }
  }
}

/// A connection with timeouts. Called on its loop.
protocol TimedConnection: AnyObject {
  func tick(_ now: NIODeadline)

  /// The number of open calls.
  var openStreams: Int { get }
}

/// The number of open calls of one event loop at its last check.
final class OpenStreams: Sendable {
  private let number = Atomic<Int>(0)

  var count: Int {
    get { number.load(ordering: .relaxed) }
    set { number.store(newValue, ordering: .relaxed) }
  }
}

/// The context of each event loop.
final class EventLoopContexts: Sendable {
  private let make: @Sendable (any EventLoop) -> MethodHost
  private let tick: TimeAmount
  private struct Entry: Sendable {
    let host: NIOLoopBound<EventLoopContext>
    let openStreams: OpenStreams
  }

  private let contexts = Mutex<[ObjectIdentifier: Entry]>([:])

  init(make: @escaping @Sendable (any EventLoop) -> MethodHost, tick: TimeAmount) {
    self.make = make
    self.tick = tick
  }

  /// The number of open calls of all loops.
  var openStreams: Int { contexts.withLock { $0.values.reduce(0) { $0 + $1.openStreams.count } } }

  /// Creates the context of every loop of a group, so that no connection waits for it or finds that it cannot be
  /// created any more.
  func prepare(_ group: any EventLoopGroup) async {
    for loop in group.makeIterator() { try? await loop.submit { _ = self.context(of: loop) }.get() }
  }

  /// The context of the calling loop.
  func context(of loop: any EventLoop) -> EventLoopContext {
    let key = ObjectIdentifier(loop)
    if let known = contexts.withLock({ $0[key] }) { return known.host.value }
    // Only this loop uses this key, so no other thread creates the same context.
    let openStreams = OpenStreams()
    let host = NIOLoopBound(
      EventLoopContext(make(loop), on: loop, tick: tick, openStreams: openStreams), eventLoop: loop)
    contexts.withLock { $0[key] = Entry(host: host, openStreams: openStreams) }
    host.value.recover()
    return host.value
  }
}
