internal import AppStore
internal import Callers
internal import RPC
internal import Telemetry
internal import Tracing

/// Code that runs before and after every handler. A call passes its interceptors on one thread at a time.
protocol Interceptor {
  /// Runs when the header fields have arrived, before the request is decoded.
  ///
  /// - Throws: the status with which the call ends; no further interceptor and no handler runs.
  func start(_ call: inout CallInFlight) throws(Status)

  /// Runs for each request message, possibly after `start` rejected the call; its error is then ignored.
  func receive(_ message: UnsafeRawBufferPointer, _ call: inout CallInFlight) throws(Status)

  /// Checks again whether a running stream is permitted, after the callers or the keys of their issuer were replaced.
  /// `message` is its last request message; `nil` if none has arrived.
  ///
  /// - Throws: the status with which the stream ends.
  func revalidate(_ call: inout CallInFlight, _ message: [UInt8]?) throws(Status)

  /// Runs once for each call, whether it was rejected or not, innermost interceptor first. `failure` is `nil` for a
  /// call that succeeded.
  func end(_ call: inout CallInFlight, _ failure: Status?)
}

extension Interceptor {
  /// Accepts every call; an interceptor implements the steps that it needs.
  func start(_ call: inout CallInFlight) throws(Status) {}
  func receive(_ message: UnsafeRawBufferPointer, _ call: inout CallInFlight) throws(Status) {}
  func revalidate(_ call: inout CallInFlight, _ message: [UInt8]?) throws(Status) {}
  func end(_ call: inout CallInFlight, _ failure: Status?) {}
}

/// Two interceptors as one. Nested pairs are a chain whose calls the compiler resolves statically.
struct InterceptorPair<Outer: Interceptor, Inner: Interceptor>: Interceptor {
  let outer: Outer
  let inner: Inner

  init(_ outer: Outer, _ inner: Inner) {
    self.outer = outer
    self.inner = inner
  }

  /// Runs both until one of them rejects the call. The chain then ends the call by ``end(_:_:)`` of both.
  func start(_ call: inout CallInFlight) throws(Status) {
    try outer.start(&call)
    try inner.start(&call)
  }

  func receive(_ message: UnsafeRawBufferPointer, _ call: inout CallInFlight) throws(Status) {
    try outer.receive(message, &call)
    try inner.receive(message, &call)
  }

  func revalidate(_ call: inout CallInFlight, _ message: [UInt8]?) throws(Status) {
    try outer.revalidate(&call, message)
    try inner.revalidate(&call, message)
  }

  /// Ends both, the inner one first.
  func end(_ call: inout CallInFlight, _ failure: Status?) {
    inner.end(&call, failure)
    outer.end(&call, failure)
  }
}

extension InterceptorPair: Sendable where Outer: Sendable, Inner: Sendable {}

/// A call from its first interceptor to its last.
struct CallInFlight: Sendable {
  /// The apps, customers and actor that a request names.
  struct Subject: Hashable, Sendable {
    /// The first values of the field in the encoded message, for the audit log. Authorization reads all of them
    /// (``MethodPolicy/apps(in:)``).
    var apps: [String] = []
    /// The app that the call is about: of several values of a field the last one counts. Empty without one.
    var app: String { apps.last ?? "" }
    /// The customers that the request names, and then those that the response shows.
    var customers: [String] = []
    /// The person or system for which the caller acts, as the request states it.
    var actor = ""
    /// The reason that the request states.
    var note = ""
    /// The object that the request names instead of a customer, as the handler describes it.
    var other = ""
    /// The instants that the request asks about; `nil`: the present.
    var instants: QueriedInstants?

    /// The instants that a request about the past names.
    struct QueriedInstants: Hashable, Sendable {
      /// Of the customer's state.
      let asOf: Instant?
      /// Of the knowledge about it.
      let knownAt: Instant?
    }
  }

  /// The rules of the method, which interceptors follow.
  let method: MethodPolicy
  /// The context that the handler gets. Authentication adds the caller to it.
  var context: CallContext
  /// In nanoseconds of a monotonic clock.
  let startTicks: Int64
  /// `nil` until the caller is authenticated, and for methods that need no role.
  var caller: Caller?
  /// The time at which a stream or task was authenticated; `nil` on an event loop.
  var authenticatedAt: Instant?
  /// `nil` for calls that are not traced.
  var trace: TraceContext?
  /// `nil` for calls that are not sampled.
  var span: RecordedSpan?
  /// What the call is about, for the audit log: the request's part when it has arrived, and the handler's when it has
  /// ended.
  var subject = Subject()

  init(_ method: MethodPolicy, _ context: CallContext, startTicks: Int64) {
    self.method = method
    self.context = context
    self.startTicks = startTicks
  }

  /// The context in which the handler runs; `nil` for calls that are not traced.
  var instrumentationContext: InstrumentationContext? {
    span?.context ?? trace.map { InstrumentationContext($0) }
  }

  /// Whether the audit log records the call: every mutating call, and every failure of the service.
  func shouldAudit(_ code: StatusCode) -> Bool {
    switch code {
    case .unknown, .internalError, .unavailable, .dataLoss: true
    default: method.mutates
    }
  }

  /// The time until the caller's deadline; `nil` without one.
  func remainingMilliseconds(at ticks: Int64) -> Int64? {
    context.timeout.map { ($0.nanoseconds - (ticks - startTicks)) / 1_000_000 }
  }

  /// The status that the caller saw: after a cancellation, the handler's result does not reach the caller.
  func seenStatus(_ status: Status, at ticks: Int64) -> Status {
    guard Task.isCancelled, status.code != .ok else { return status }
    let hasTimedOut = context.timeout.map { ticks - startTicks >= $0.nanoseconds } ?? false
    return hasTimedOut ? Status(.deadlineExceeded) : Status(.cancelled)
  }
}

extension Status? {
  /// The code with which a call ended; OK without a failure.
  var code: StatusCode { self?.code ?? .ok }
}
