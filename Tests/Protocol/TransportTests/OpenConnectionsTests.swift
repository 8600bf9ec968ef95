import NIOCore
import NIOPosix
import Testing

@testable import Transport

@Suite("The open connections of a listener")
struct OpenConnectionsTests {
  private let group = MultiThreadedEventLoopGroup.singleton

  @Test("Connections beyond the limit are closed and counted; one that closes makes room")
  func limit() async throws {
    let connections = OpenConnections(limit: 1)
    let server = try await listen(connections)
    let first = try await connect(to: server)
    let second = try await connect(to: server)
    try await second.closeFuture.get()
    #expect(connections.count == 1)
    #expect(connections.refused == 1)
    let drained = group.any().makePromise(of: Void.self)
    try await first.close()
    connections.drain(drained)
    try await drained.futureResult.get()
    #expect(connections.count == 0)
    try await server.close()
  }

  @Test("A drain asks connections on every event loop, and ends with the last one")
  func drain() async throws {
    let connections = OpenConnections(limit: 100)
    let server = try await listen(connections)
    let clients = try await withThrowingTaskGroup(of: (any Channel).self) { tasks in
      for _ in 0..<20 { tasks.addTask { try await connect(to: server) } }
      return try await tasks.reduce(into: []) { $0.append($1) }
    }
    while connections.count < clients.count { await Task.yield() }
    let drained = group.any().makePromise(of: Void.self)
    connections.drain(drained)
    for client in clients { try await client.closeFuture.get() }
    try await drained.futureResult.get()
    #expect(connections.count == 0)
    try await server.close()
  }

  @Test("A connection that is accepted during the drain is asked, too")
  func late() async throws {
    let connections = OpenConnections(limit: 100)
    let server = try await listen(connections)
    connections.drain(group.any().makePromise(of: Void.self))
    for _ in 0..<10 { try await connect(to: server).closeFuture.get() }
    try await server.close()
  }

  /// Listens on a free port. Its connections close when they are asked to finish.
  private func listen(_ connections: OpenConnections) async throws -> any Channel {
    try await ServerBootstrap(group: group)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptedConnections(connections))
        }
      }
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ClosingHandler())
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  private func connect(to server: any Channel) async throws -> any Channel {
    let address = try #require(server.localAddress)
    return try await ClientBootstrap(group: group).connect(to: address).get()
  }
}

/// Closes its connection when it is asked to finish.
private final class ClosingHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
  }
}
