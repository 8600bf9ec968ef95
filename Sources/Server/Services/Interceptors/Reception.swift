internal import Callers
internal import HTTP
internal import RPC
internal import Telemetry

/// What happens to every call before its handler is asked: the caller is known, has the role, may ask about
/// the app, and does not call too often. And what happens behind it: the call is counted and timed, and written
/// down if it changed something or failed through no fault of the caller's.
///
/// It belongs to one event loop. What goes on away from it uses only what is shared (``Door``).
struct Reception {
  private let gate: Authenticator
  private let door: Door
  private let meter: CallMeter.Shard

  init(_ door: Door) {
    self.door = door
    gate = Authenticator(door.callers, now: door.now)
    meter = door.meter.makePart()
  }

  /// The same method, with all this before and behind it.
  func receiving(_ method: Method) -> Method {
    let desk = MethodDesk(method.path, index: door.index(of: method.path))
    switch method.handler {
    case .unary(let handler):
      return Method(
        path: method.path, handler: .unary(receiving(handler, desk)), admission: admitting(desk))
    case .streaming(let handler):
      return Method(path: method.path, handler: .streaming(door.streaming(handler, desk)))
    }
  }

  /// Knows the caller, its role and its rate, before the request is read.
  private func admitting(_ desk: MethodDesk) -> (CallContext) -> Status? {
    { [gate, door] context in
      let start = door.ticks()
      guard desk.access.role != nil else { return nil }
      do throws(Status) {
        try desk.admit(try gate.caller(of: context), at: start)
        return nil
      } catch {
        return refused(error, desk, from: start) { desk.call(context, start) }
      }
    }
  }

  /// The refusal as the caller is told of it: counted, and with the call's id if it was written down.
  private func refused(
    _ status: Status, _ desk: MethodDesk, from start: Int64, _ call: () -> CallInFlight
  ) -> Status {
    meter.count(desk.index, code: status.code.rawValue, nanoseconds: door.ticks() - start)
    guard desk.isWrittenDown(status.code) else { return status }
    let call = call()
    door.write(call.record(status))
    var status = status
    status.requestID = call.trace.requestID
    return status
  }

  private typealias Unary = (UnsafeRawBufferPointer, CallContext) -> UnaryResult

  private func receiving(_ handler: @escaping Unary, _ desk: MethodDesk) -> Unary {
    { [gate, door, meter] request, context in
      let start = door.ticks()
      var name = ""
      let answer: UnaryResult
      do throws(Status) {
        if desk.access.role != nil {
          let caller = try gate.caller(of: context)
          name = caller.name
          if !context.isAdmitted { try desk.admit(caller, at: start) }
          try desk.admit(caller, request)
        }
        answer = name.isEmpty ? handler(request, context) : handler(request, context.called(by: name))
      } catch {
        answer = .refused(error)
      }
      switch answer {
      case .now where !desk.access.isChange:
        // The hot path.
        meter.count(desk.index, code: 0, nanoseconds: door.ticks() - start)
        return answer
      case .now:
        meter.count(desk.index, code: 0, nanoseconds: door.ticks() - start)
        door.write(desk.call(request, context.called(by: name), start).record(.ok))
        return answer
      case .refused(let status):
        return .refused(
          refused(status, desk, from: start) { desk.call(request, context.called(by: name), start) })
      case .later(let work):
        return door.following(work, desk.call(request, context.called(by: name), start))
      }
    }
  }
}

extension Authenticator {
  /// Whose call that is, or the refusal.
  func caller(of context: CallContext) throws(Status) -> Caller {
    do throws(CallerError) {
      return try caller(context.headers, certificateNames: context.peer?.names ?? [])
    } catch {
      throw Status(error)
    }
  }
}
