internal import AppStore
internal import Callers
internal import RPC
internal import Wire

/// What happens to every call before its handler is asked: the caller is known, has the role, may ask about
/// the app, and does not call too often. And what happens behind it: calls that change something are written
/// down.
///
/// It belongs to one event loop. Streaming calls, whose handlers run in tasks of their own, use only what is
/// door.
struct Reception {
  private let gate: CallerGate
  private let door: Door

  init(_ door: Door) {
    self.door = door
    gate = CallerGate(door.callers, now: door.now)
  }

  /// The same method, with all this before and behind it.
  func receiving(_ method: Method) -> Method {
    let desk = MethodDesk(method.path)
    guard desk.access.role != nil else { return method }
    switch method.handler {
    case .unary(let handler):
      let receive = desk.access.isChange ? changing(handler, desk) : asking(handler, desk)
      return Method(path: method.path, handler: .unary(receive))
    case .streaming(let handler):
      return Method(path: method.path, handler: .streaming(door.streaming(handler, desk)))
    }
  }

  private typealias Unary = (UnsafeRawBufferPointer, CallContext) -> UnaryAnswer

  /// The hot path: nothing is written down.
  private func asking(_ handler: @escaping Unary, _ desk: MethodDesk) -> Unary {
    { [gate, door] request, context in
      do throws(Status) {
        let caller = try desk.admit(try gate.caller(of: context), request, at: door.ticks)
        guard !caller.name.isEmpty else { return handler(request, context) }
        var context = context
        context.caller = caller.name
        return handler(request, context)
      } catch {
        return .refused(error)
      }
    }
  }

  private func changing(_ handler: @escaping Unary, _ desk: MethodDesk) -> Unary {
    let fields = AuditedFields(desk.path)
    return { [gate, door] request, context in
      let subject = fields.subject(of: request)
      var context = context
      let answer: UnaryAnswer
      do throws(Status) {
        let caller = try gate.caller(of: context)
        context.caller = caller.name
        _ = try desk.admit(caller, request, at: door.ticks)
        answer = handler(request, context)
      } catch {
        answer = .refused(error)
      }
      return door.written(answer, subject, context.caller)
    }
  }
}

// What the receptions of all event loops share.
extension Door {
  fileprivate typealias Streaming =
    @Sendable (any MessageStream, CallContext) async throws(Status) -> Void

  /// The answer, which is written down when it is known.
  fileprivate func written(_ answer: UnaryAnswer, _ subject: AuditSubject, _ caller: String) -> UnaryAnswer {
    switch answer {
    case .now:
      audit(subject.record(of: caller, .ok))
      return answer
    case .refused(let status):
      audit(subject.record(of: caller, status.code))
      return answer
    case .later(let work):
      return .later { [audit] () async throws(Status) in
        do throws(Status) {
          let reply = try await work()
          audit(subject.record(of: caller, .ok))
          return reply
        } catch {
          audit(subject.record(of: caller, error.code))
          throw error
        }
      }
    }
  }

  fileprivate func streaming(_ handler: @escaping Streaming, _ desk: MethodDesk) -> Streaming {
    { messages, context async throws(Status) in
      var context = context
      var outcome = StatusCode.ok
      defer {
        if desk.access.isChange { audit(AuditSubject(method: desk.path).record(of: context.caller, outcome)) }
      }
      do throws(Status) {
        let caller = try CallerGate(callers, now: now).caller(of: context)
        context.caller = caller.name
        try desk.admit(caller, at: ticks)
        try await handler(ReceivedMessages(messages: messages, caller: caller, desk: desk), context)
      } catch {
        outcome = error.code
        throw error
      }
    }
  }
}

/// What has to be known of a method to let a call of it in.
struct MethodDesk: Sendable {
  let path: String
  let access: MethodAccess
  private let app: FieldPath?

  init(_ path: String) {
    self.path = path
    access = MethodAccess.of(path)
    app = Contract.method(named: path)?.requestType.messageType.path(toText: "app")
  }

  /// Whether the caller may call at all, now.
  func admit(_ caller: Caller, at ticks: () -> Int64) throws(Status) {
    if let role = access.role, !caller.roles.contains(role) {
      throw Status(CallerError.roleMissing(caller: caller.name, needed: role))
    }
    if let wait = caller.bucket?.take(at: ticks()) {
      throw Status(.tooFast(caller: caller.name, retryAfterMilliseconds: (wait + 999_999) / 1_000_000))
    }
  }

  /// Whether the caller may make this request, now.
  func admit(
    _ caller: Caller, _ request: UnsafeRawBufferPointer, at ticks: () -> Int64
  ) throws(Status) -> Caller {
    try admit(caller, at: ticks)
    try admit(caller, request)
    return caller
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
}

/// The messages of a call, each of which may name an app.
private struct ReceivedMessages: MessageStream {
  let messages: any MessageStream
  let caller: Caller
  let desk: MethodDesk

  func next() async throws(Status) -> ReceivedMessage? {
    guard let message = try await messages.next() else { return nil }
    if caller.apps != nil {
      let refusal = message.bytes.withUnsafeBytes { bytes -> Status? in
        do throws(Status) { try desk.admit(caller, bytes) } catch { return error }
        return nil
      }
      if let refusal { throw refusal }
    }
    return message
  }

  func send(_ message: [UInt8], packing: Packing) async throws(Status) {
    try await messages.send(message, packing: packing)
  }

  func attach(initial: Metadata, trailing: Metadata) async {
    await messages.attach(initial: initial, trailing: trailing)
  }
}

extension CallerGate {
  fileprivate func caller(of context: CallContext) throws(Status) -> Caller {
    do throws(CallerError) { return try caller(context.headers) } catch { throw Status(error) }
  }
}
