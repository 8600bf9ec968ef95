internal import NIOCore
internal import NIOExtras
internal import Synchronization

/// Whether a listener is about to end, for its connections on all event loops.
final class DrainState: Sendable {
  private let begun = Atomic<Bool>(false)

  var hasBegun: Bool { begun.load(ordering: .relaxed) }

  func begin() { begun.store(true, ordering: .relaxed) }
}

/// Asks an HTTP/1.1 connection to end when it can: NIO's handlers behind this one would close an idle connection at once, and
/// lose the request that is perhaps on its way.
final class DrainHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    context.fireUserInboundEventTriggered(event is ChannelShouldQuiesceEvent ? DrainEvent() : event)
  }
}

/// What ``DrainHandler`` says in the place of `ChannelShouldQuiesceEvent`.
struct DrainEvent {}
