internal import NIOCore
internal import Synchronization

/// The open connections of a listener: bounds their number, and asks each to finish when the listener drains.
final class OpenConnections: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var refused = 0
    /// Succeeds when the last connection is closed; `nil`: the listener does not drain.
    var drained: EventLoopPromise<Void>?
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: the largest number of open connections.
  init(limit: Int) { self.limit = limit }

  /// The number of open connections.
  var count: Int { state.withLock { $0.channels.count } }

  /// The number of connections rejected because of the limit.
  var refused: Int { state.withLock { $0.refused } }

  /// Adds an accepted connection, which leaves when it is closed.
  ///
  /// - Returns: `false` if the limit is reached.
  fileprivate func insert(_ channel: any Channel) -> Bool {
    let id = ObjectIdentifier(channel)
    let isOpen = state.withLock { state in
      guard state.channels.count < limit else {
        state.refused += 1
        return false
      }
      state.channels[id] = channel
      return true
    }
    if isOpen { channel.closeFuture.whenComplete { [self] _ in remove(id) } }
    return isOpen
  }

  private func remove(_ id: ObjectIdentifier) {
    let drained = state.withLock { state in
      state.channels[id] = nil
      return state.channels.isEmpty ? state.drained : nil
    }
    drained?.succeed()
  }

  /// Asks all connections to finish, and each one that is accepted later.
  ///
  /// - Parameter drained: succeeds when the last connection is closed.
  func drain(_ drained: EventLoopPromise<Void>) {
    let channels = state.withLock { state in
      state.drained = drained
      return Array(state.channels.values)
    }
    for channel in channels { askToFinish(channel) }
    if channels.isEmpty { drained.succeed() }
  }

  fileprivate func askToFinishIfDraining(_ channel: any Channel) {
    if state.withLock({ $0.drained != nil }) { askToFinish(channel) }
  }

  private func askToFinish(_ channel: any Channel) {
    let loop = channel.eventLoop
    let ask = { @Sendable in channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    if loop.inEventLoop { ask() } else { loop.execute(ask) }
  }
}

/// Adds the connections that a listener accepts to ``OpenConnections``, and closes those beyond its limit.
final class AcceptedConnections: ChannelInboundHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel

  private let connections: OpenConnections

  init(_ connections: OpenConnections) { self.connections = connections }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let channel = unwrapInboundIn(data)
    guard connections.insert(channel) else { return channel.close(promise: nil) }
    context.fireChannelRead(data)
    // Its pipeline is built first: on its event loop, or as that loop's next task.
    connections.askToFinishIfDraining(channel)
  }
}
