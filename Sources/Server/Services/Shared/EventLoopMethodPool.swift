internal import RPC
internal import Synchronization

/// Runs the synchronous methods of the event loops for calls that arrive elsewhere, such as JSON. Each runner
/// has its own reader and cache; calls are distributed among the runners.
final class EventLoopMethodPool: Sendable {
  /// A power of two.
  private static let size = 4

  private let runners: [EventLoopMethodRunner]
  private let calls = Atomic<Int>(0)

  /// `cacheBytes` is the memory of all runners together.
  init(
    _ context: ServiceContext, health: HealthService, cacheBytes: Int, missingReaders: MissingReaders
  ) {
    runners = (0..<Self.size).map { _ in
      let (check, reader) = context.makeCheckHandler(missingReaders, cacheBytes: cacheBytes / Self.size)
      let methods = Method.eventLoop(entitlementService: check) + health.methods
      return EventLoopMethodRunner(
        MethodHost(methods: MethodTable(methods), tickEnded: check.endTick, recover: reader.recover))
    }
  }

  /// The methods with these paths as tasks, which copy their requests.
  func methods(_ paths: [String]) -> [Method] {
    paths.map { path in
      Method(
        path: path,
        handler: .asyncUnary { [self] request, call in
          let request = Array(request)
          return { [self] () async throws(Status) in
            try await next.result(path, request, call).awaitReply()
          }
        })
    }
  }

  /// The runners in turn.
  private var next: EventLoopMethodRunner {
    runners[calls.wrappingAdd(1, ordering: .relaxed).oldValue & (Self.size - 1)]
  }
}

/// The methods of one event loop, confined to an actor instead.
private actor EventLoopMethodRunner {
  private let host: MethodHost

  init(_ host: sending MethodHost) { self.host = host }

  /// Runs a method synchronously, and ends the snapshot of its read.
  func result(_ path: String, _ request: [UInt8], _ call: CallContext) -> UnaryResult {
    _ = host.recover()
    defer { host.endTick() }
    guard case .unary(let handler)? = host.methods.method(path)?.handler else {
      return .failure(Status(.unimplemented))
    }
    return request.withUnsafeBytes { handler($0, call) }
  }
}
