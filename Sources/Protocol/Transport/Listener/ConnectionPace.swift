internal import Glibc
internal import NIOCore
internal import Platform
internal import Synchronization

/// Limits how fast a listener accepts connections whose peers make no successful call.
///
/// A connection costs the service more than its peer. Each one takes a token, which it returns with its first successful
/// response, to another call than those of health and reflection. So clients that call are not limited, even if they open
/// a connection for each call, and peers that only connect wait in the queue of the socket.
final class ConnectionPace: Sendable {
  /// The time after which a token is back, in nanoseconds.
  private let interval: Int64
  /// The time at which all tokens are back, in nanoseconds (the generic cell rate algorithm, ITU-T I.371).
  private let complete: Atomic<Int64>

  /// - Parameter perSecond: the number of connections per second, at least 1. Those of a second may arrive at once.
  init(perSecond: Int) {
    interval = Self.second / Int64(max(perSecond, 1))
    complete = Atomic(0)
  }

  /// Takes a token for an accepted connection, also if there is none.
  func take(at now: NIODeadline) {
    let now = Int64(clamping: now.uptimeNanoseconds)
    var seen = complete.load(ordering: .relaxed)
    while true {
      let result = complete.compareExchange(
        expected: seen, desired: max(seen, now) + interval, ordering: .relaxed)
      guard !result.exchanged else { return }
      seen = result.original
    }
  }

  /// Returns the token of a connection.
  func release() { complete.subtract(interval, ordering: .relaxed) }

  /// The time until the next token; `nil` if there is one.
  func delay(at now: NIODeadline) -> TimeAmount? {
    let missing = complete.load(ordering: .relaxed) - Int64(clamping: now.uptimeNanoseconds)
    return missing + interval > Self.second ? .nanoseconds(missing + interval - Self.second) : nil
  }

  private static let second: Int64 = 1_000_000_000
}

/// Stops accepting connections while their pace permits none or descriptors are scarce, and for a second after an error of
/// the operating system, such as no free descriptor. They wait in the queue of the socket.
final class AcceptPacer: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel
  typealias OutboundIn = Never

  private let pace: ConnectionPace
  private let drainState: DrainState
  private let isInherited: Bool
  private var isWaiting = false

  /// `isInherited`: whether another process continues with the queue of the socket after a drain.
  init(_ pace: ConnectionPace, _ drainState: DrainState, isInherited: Bool) {
    self.pace = pace
    self.drainState = drainState
    self.isInherited = isInherited
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    pace.take(at: .now())
    context.fireChannelRead(data)
  }

  /// The socket remains readable and registered after the error, so NIO would try again without a pause. NIO's
  /// `AcceptBackoffHandler` does not help: it delays the next read, and the failed one is still pending.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A peer that ended its connection makes no other one wait.
    guard let error = error as? IOError, error.errnoCode != ECONNABORTED else {
      return context.fireErrorCaught(error)
    }
    try? context.channel.syncOptions?.setOption(.autoRead, value: false)
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.errorDelay) {
      let (handler, context) = bound.value
      let isForNextProcess = handler.isInherited && handler.drainState.hasBegun
      guard context.channel.isActive, !isForNextProcess else { return }
      try? context.channel.syncOptions?.setOption(.autoRead, value: true)
    }
  }

  func read(context: ChannelHandlerContext) {
    guard !isWaiting else { return }
    // A drain accepts all that wait, because the kernel would reset them.
    guard !drainState.hasBegun, let delay else { return context.read() }
    isWaiting = true
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: min(delay, Self.maxDelay)) {
      let (handler, context) = bound.value
      handler.isWaiting = false
      if context.channel.isActive { handler.read(context: context) }
    }
  }

  /// The time until connections may be accepted; `nil` if it has come.
  private var delay: TimeAmount? {
    pace.delay(at: .now()) ?? (OpenFiles.areScarce ? Self.maxDelay : nil)
  }

  private static let errorDelay = TimeAmount.seconds(1)
  /// Tokens and descriptors may be returned meanwhile, and a drain may begin.
  private static let maxDelay = TimeAmount.milliseconds(10)
}
