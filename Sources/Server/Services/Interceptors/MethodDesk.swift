internal import Callers
internal import HTTP
internal import RPC
internal import Telemetry
internal import Wire

/// What has to be known of a method to let a call of it in, and to write it down.
struct MethodDesk: Sendable {
  private static let customerFields = [
    "customer_id", "from_customer_id", "into_customer_id", "to_customer_id",
  ]

  let path: String
  /// Among the methods that the meter counts.
  let index: Int
  let access: MethodPolicy
  private let app: FieldPath?
  private let customers: [FieldPath]
  private let actor: FieldPath?

  init(_ path: String, index: Int) {
    self.path = path
    self.index = index
    access = MethodPolicy.of(path)
    let request = Contract.method(named: path)?.requestType.messageType
    app = request?.path(toText: "app")
    customers = Self.customerFields.compactMap { request?.path(toText: $0) }
    actor = request?.path(toText: "actor")
  }

  /// Whether the caller has the role, and may call at a moment of the clock that counts ticks. It counts the call.
  func admit(_ caller: Caller, at ticks: Int64) throws(Status) {
    if let role = access.role, !caller.has(role) {
      throw Status(CallerError.roleMissing(caller: caller.name, needed: role))
    }
    if let wait = caller.bucket?.take(at: ticks) {
      throw Status(.rateLimited(caller: caller.name, retryAfterMilliseconds: (wait + 999_999) / 1_000_000))
    }
  }

  /// Whether the caller may ask about every app that the request names, also one that a later field replaces.
  func admit(_ caller: Caller, _ request: UnsafeRawBufferPointer) throws(Status) {
    guard let allowed = caller.apps else { return }
    guard let app, let named = TextFields.values(at: app, in: request), !named.isEmpty else {
      throw Status(CallerError.needsAllApps(caller: caller.name))
    }
    if let other = named.first(where: { !allowed.contains($0) }) {
      throw Status(.appNotAllowed(caller: caller.name, app: other))
    }
  }

  /// Whether a call that ended so is written down: one that changes something always, others when the service is
  /// to blame.
  func isWrittenDown(_ outcome: StatusCode) -> Bool {
    access.isChange || [.unknown, .internalError, .unavailable, .dataLoss].contains(outcome)
  }

  /// A call of which no request is known, such as a stream.
  func call(_ context: CallContext, _ start: Int64) -> CallInFlight {
    CallInFlight(desk: self, context: context, start: start, apps: [], customers: [], actor: "")
  }

  /// A call, with what its request says as far as it may have to be written down.
  func call(_ request: UnsafeRawBufferPointer, _ context: CallContext, _ start: Int64) -> CallInFlight {
    guard access.isChange else { return call(context, start) }
    return CallInFlight(
      desk: self, context: context, start: start, apps: values(app, request),
      customers: customers.flatMap { values($0, request) }, actor: values(actor, request).last ?? "")
  }

  private func values(_ path: FieldPath?, _ request: UnsafeRawBufferPointer) -> [String] {
    path.flatMap { TextFields.values(at: $0, in: request) } ?? []
  }
}

/// A call that was received and may go on for a while.
struct CallInFlight: Sendable {
  let desk: MethodDesk
  var caller: String
  let start: Int64
  let trace: TraceContext
  /// The caller's deadline in nanoseconds from ``start``; `nil`: none.
  private let timeout: Int64?
  private let apps: [String]
  private let customers: [String]
  private let actor: String

  fileprivate init(
    desk: MethodDesk, context: CallContext, start: Int64, apps: [String], customers: [String], actor: String
  ) {
    var generator = SystemRandomNumberGenerator()
    self.desk = desk
    self.caller = context.caller
    self.start = start
    trace = TraceContext(continuing: context.headers["traceparent"], using: &generator)
    timeout = context.timeout?.nanoseconds
    self.apps = apps
    self.customers = customers
    self.actor = actor
  }

  /// What is written down of it.
  func record(_ status: Status) -> AuditRecord {
    AuditRecord(
      caller: caller, method: desk.path, isChange: desk.access.isChange, apps: apps, customers: customers,
      actor: actor, outcome: status.code.name, problem: status.problem, trace: trace)
  }

  /// The status as the caller saw it: what a handler says when nobody waits any more is not it.
  func seen(_ status: Status, after nanoseconds: Int64) -> Status {
    guard Task.isCancelled, status.code != .ok else { return status }
    return timeout.map { nanoseconds >= $0 } == true ? Status(.deadlineExceeded) : Status(.cancelled)
  }
}
