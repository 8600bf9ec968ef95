import EntitledClient
import HTTP
import Logging
import NIOCore
import NIOPosix
import RPC
import Transport

/// Methods that every event loop shares. The handlers of a test have no state of a single loop.
struct SharedMethods: @unchecked Sendable {
  private let methods: [Method]
  init(_ methods: [Method]) { self.methods = methods }
  func make() -> MethodHost { MethodHost(methods: MethodTable(methods)) }
}

extension Listener.Service {
  /// The methods, and an HTTP handler that returns the properties of the request.
  static func serving(
    _ methods: sending [Method], limits: TransportLimits = TransportLimits()
  ) -> Listener.Service {
    let host = SharedMethods(methods)
    return Listener.Service(
      makeHost: { _ in host.make() },
      http: { request in
        .text(200, "\(request.method) \(request.path) \(request.query) \(request.body.count)")
      }, limits: limits)
  }
}

/// Serves the methods on a free port while `body` runs with a connection to it.
func serving(
  _ methods: sending [Method], limits: TransportLimits = TransportLimits(),
  _ body: (ClientConnection) async throws -> Void
) async throws {
  let listener = try await Listener.listen(
    at: HostAndPort(host: "127.0.0.1", port: 0), on: MultiThreadedEventLoopGroup.singleton,
    serving: .serving(methods, limits: limits), logger: Logger(label: "test"))
  do {
    try await ClientConnection.withConnection(host: "127.0.0.1", port: listener.address.port, body)
  } catch {
    await listener.shutDown(grace: .seconds(5))
    throw error
  }
  await listener.shutDown(grace: .seconds(5))
}
