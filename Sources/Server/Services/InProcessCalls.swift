internal import AppStore
package import Callers
package import ContractCalls
internal import HTTP
package import RPC
internal import Synchronization
package import Wire

/// Calls the methods of the contract in this process, through the same interceptors and handlers as calls over a
/// network: authorization, restriction to apps, rate limits, metrics and audit.
package struct InProcessCalls: ContractCalls {
  private let policy: CallPolicy
  private let methods: [String: Method.AsyncHandler]
  private let streams: [String: Method.StreamHandler]

  /// `methods` are those that run as tasks or streams; synchronous methods of an event loop are left out.
  init(policy: CallPolicy, methods: [Method]) {
    self.policy = policy
    var handlers: [String: Method.AsyncHandler] = [:]
    var streams: [String: Method.StreamHandler] = [:]
    for method in methods {
      switch method.handler {
      case .asyncUnary(let handler): handlers[method.path] = handler
      case .streaming(let handler): streams[method.path] = handler
      case .unary: continue
      }
    }
    self.methods = handlers
    self.streams = streams
  }

  /// The role of the method's policy. A path outside the contract needs ``Role/admin``.
  package func role(of path: String) -> Role? { MethodPolicy.of(path).role }

  /// Calls a unary method, which has 30 seconds.
  ///
  /// - Throws: `UNIMPLEMENTED` for a path without a unary method, `INTERNAL` for a response of another type; otherwise
  ///   as a remote call.
  package func call<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ request: Request, as caller: Caller, person: CallingPerson
  ) async throws(Status) -> Response {
    guard let handler = methods[path] else { throw .noMethod(path) }
    let chain = policy.chain(for: caller, person: person)
    let message = request.encodedBytes()
    let call = try chain.start(
      MethodPolicy.of(path), CallContext(headers: HeaderFields(), timeout: Self.timeout),
      reading: { _ in message })
    let reply = try await call.reply(to: message, handler)
    do throws(WireError) { return try Response.decode(reply.message) } catch {
      throw Status(.internalError, "the response cannot be decoded: \(error)")
    }
  }

  /// Calls a streaming method, without a timeout: a page that is open in a browser follows events as long as it stays
  /// open. The stream ends when the task is cancelled, and when `renewal` has no caller any more.
  package func follow<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ request: Request, as caller: Caller, person: CallingPerson, renewal: CallerRenewal?,
    began: @escaping @Sendable () -> Void, receive: @escaping @Sendable (Response) -> Void
  ) async throws(Status) {
    guard let handler = streams[path] else { throw .noMethod(path) }
    let chain = policy.chain(for: caller, person: person, renewal: renewal)
    var context = CallContext(headers: HeaderFields(), timeout: nil)
    context.retirement = CallRetirement()
    let stream = InProcessStream(request.encodedBytes(), began: began) { bytes throws(WireError) in
      receive(try Response.decode(bytes))
    }
    try await chain.intercepting(handler, MethodPolicy.of(path))(stream, context)
  }

  /// A person waits for the page.
  private static let timeout = Timeout(nanoseconds: 30_000_000_000)
}

/// A stream of this process: one request, and a function that receives the responses.
private final class InProcessStream: MessageStream {
  private let request: Mutex<[UInt8]?>
  private let began: @Sendable () -> Void
  private let receive: @Sendable ([UInt8]) throws(WireError) -> Void

  init(
    _ request: [UInt8], began: @escaping @Sendable () -> Void,
    receive: @escaping @Sendable ([UInt8]) throws(WireError) -> Void
  ) {
    self.request = Mutex(request)
    self.began = began
    self.receive = receive
  }

  /// The request, once; then the end of the requests.
  func next() async throws(Status) -> ReceivedMessage? {
    let bytes = request.withLock { request in
      defer { request = nil }
      return request
    }
    return bytes.map { ReceivedMessage($0) }
  }

  func send(_ message: [UInt8], compression: MessageCompression) async throws(Status) {
    guard !Task.isCancelled else { throw Status(.cancelled) }
    do throws(WireError) { try receive(message) } catch {
      throw Status(.internalError, "the response cannot be decoded: \(error)")
    }
  }

  func attach(initial: Metadata, trailing: Metadata) async {}

  func begin() async { began() }
}

/// Accepts a caller that another component has authenticated, such as the console. It replaces authentication in the
/// chain, so the interceptors after it are the same as for other calls.
struct KnownCallerInterceptor: Interceptor, Sendable {
  /// Authorized and limited as each other caller.
  let caller: Caller
  /// The person that the caller acts for.
  let person: CallingPerson
  /// `nil` for calls that end by themselves.
  var renewal: CallerRenewal?

  func start(_ call: inout CallInFlight) throws(Status) {
    call.context.address = person.address
    guard call.method.needsCaller else { return }
    call.caller = caller
    call.context.caller = caller.name
    call.context.callerRoles = caller.roleBits
  }

  /// Looks the caller up again, under the roles that it has now.
  ///
  /// - Throws: `UNKNOWN_TOKEN` if it is no caller any more.
  func revalidate(_ call: inout CallInFlight, _ message: [UInt8]?) throws(Status) {
    guard let renewal, call.method.needsCaller else { return }
    guard let caller = renewal.current() else { throw Status(CallerError.unknownToken) }
    call.caller = caller
  }

  /// The person is known, whatever the request states. Reads have no field for the reason.
  func receive(_ message: UnsafeRawBufferPointer, _ call: inout CallInFlight) throws(Status) {
    call.subject.actor = person.name
    if call.subject.note.isEmpty { call.subject.note = person.reason }
  }
}

extension Status {
  fileprivate static func noMethod(_ path: String) -> Status {
    Status(.unimplemented, "there is no method '\(path)'")
  }
}
