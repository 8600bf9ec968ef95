internal import AppStore
package import Callers
internal import HTTP
package import RPC
package import Wire

/// Calls the unary methods of the contract in this process, through the same interceptors and handlers as calls over a
/// network: authorization, restriction to apps, rate limits, metrics and audit.
package struct InProcessCalls: Sendable {
  private let policy: CallPolicy
  private let methods: [String: Method.AsyncHandler]

  init(policy: CallPolicy, methods: [Method]) {
    self.policy = policy
    var handlers: [String: Method.AsyncHandler] = [:]
    for method in methods {
      if case .asyncUnary(let handler) = method.handler { handlers[method.path] = handler }
    }
    self.methods = handlers
  }

  /// The roles that the callers of this process have.
  package static func role(of path: String) -> Role? { MethodPolicy.of(path).role }

  /// Calls the method `path` (`/package.Service/Method`) for the authenticated `caller`, on behalf of `person`.
  package func call<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ request: Request, as caller: Caller, person: String
  ) async throws(Status) -> Response {
    guard let handler = methods[path] else {
      throw Status(.unimplemented, "there is no method '\(path)'")
    }
    let chain = policy.chain(for: caller, person: person)
    let call = try chain.start(
      MethodPolicy.of(path), CallContext(headers: HeaderFields(), timeout: Self.timeout))
    let reply = try await call.reply(to: request.encodedBytes(), handler)
    do throws(WireError) { return try Response.decode(reply.message) } catch {
      throw Status(.internalError, "the response cannot be decoded: \(error)")
    }
  }

  private static let timeout = Timeout(nanoseconds: 30_000_000_000)
}

/// A caller, authenticated by another component.
struct KnownCallerInterceptor: Interceptor, Sendable {
  let caller: Caller
  /// The person that the caller acts for.
  let person: String

  func start(_ call: inout CallInFlight) throws(Status) {
    guard call.method.needsCaller else { return }
    call.caller = caller
    call.context.caller = caller.name
    call.context.callerRoles = caller.roleBits
  }

  /// Reads have no field for the person.
  func receive(_ message: UnsafeRawBufferPointer, _ call: inout CallInFlight) throws(Status) {
    if call.subject.actor.isEmpty { call.subject.actor = person }
  }
}
