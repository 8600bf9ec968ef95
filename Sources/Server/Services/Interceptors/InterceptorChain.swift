internal import Callers
internal import HTTP
internal import RPC
internal import Telemetry
internal import Tracing

/// Runs the interceptors around handlers: the only code that distinguishes unary, asynchronous, streaming and
/// JSON calls.
///
/// Calls on an event loop pass the interceptors of that loop; `Shared` runs on all other threads.
struct InterceptorChain<Shared: Interceptor & Sendable>: Sendable {
  /// The interceptors of all threads but event loops.
  let interceptors: Shared
  /// Nanoseconds of a monotonic clock.
  let ticks: @Sendable () -> Int64
  /// The callers whose replacement ends streams that are no longer permitted; `nil`: they continue.
  var callers: CurrentCallers?

  /// Starts a call whose request is decoded only if the interceptors accept it, or by `read` for the audit entry of a
  /// rejected call of this caller. The request of a stranger is not decoded.
  func start(
    _ method: MethodPolicy, _ context: CallContext, reading read: (Caller) -> [UInt8]? = { _ in nil }
  ) throws(Status) -> StartedCall<Shared> {
    var call = CallInFlight(method, context, startTicks: ticks())
    do throws(Status) {
      try interceptors.start(&call)
    } catch {
      if method.recordsSubject, let caller = call.caller, let message = read(caller) {
        try? interceptors.receive(message[...], &call)
      }
      throw interceptors.failed(&call, error, at: ticks())
    }
    return StartedCall(call: call, chain: self)
  }

  /// Wraps a method in the interceptors; `local` are those of the event loop that serves it.
  func intercepting<Local: Interceptor>(
    _ method: Method, _ policy: MethodPolicy, with local: Local
  ) -> Method {
    let wrapped: Method.Handler =
      switch method.handler {
      case .unary(let handler): .unary(intercepting(handler, policy, local))
      case .asyncUnary(let handler):
        .unary(intercepting({ UnaryResult(preparing: handler, $0, $1) }, policy, local))
      case .streaming(let handler): .streaming(intercepting(handler, policy))
      }
    var intercepted = Method(
      path: method.path, handler: wrapped, needsAddress: policy.needsCaller && !policy.isOnEventLoop)
    intercepted.large = method.large.map { intercepting($0, policy) }
    intercepted.messageLimit = method.messageLimit
    return intercepted
  }

  /// Wraps the handler of large requests, which passes the interceptors of other threads.
  private func intercepting(
    _ handler: @escaping Method.LargeHandler, _ policy: MethodPolicy
  ) -> Method.LargeHandler {
    { read, context throws(Status) in
      var call = CallInFlight(policy, context, startTicks: ticks())
      do throws(Status) {
        try interceptors.start(&call)
      } catch {
        // Only for an audit record with a subject, and not for that of a stranger, the message is decompressed.
        if policy.recordsSubject, call.caller != nil, let message = try? read() {
          try? interceptors.receive(message, &call)
        }
        throw interceptors.failed(&call, error, at: ticks())
      }
      return try StartedCall(call: call, chain: self).work(reading: read, handler)
    }
  }

  /// Wraps a handler of the event loop. Each call passes `start`, `receive` and one of `end` and `failed`, in this
  /// order.
  private func intercepting<Local: Interceptor>(
    _ handler: @escaping Method.UnaryHandler, _ policy: MethodPolicy, _ local: Local
  ) -> Method.UnaryHandler {
    { message, context in
      var call = CallInFlight(policy, context, startTicks: ticks())
      do throws(Status) {
        try local.start(&call)
      } catch {
        // The request is complete, so the audit record of a rejected call names its subject too.
        try? local.receive(message, &call)
        return .failure(local.failed(&call, error, at: ticks()))
      }
      do throws(Status) {
        try local.receive(message, &call)
      } catch {
        return .failure(local.failed(&call, error, at: ticks()))
      }
      let result = call.inSpan { handler(message, call.context) }
      switch result {
      case .reply(var reply):
        local.end(&call, nil)
        reply.attach(requestIDOf: call)
        return .reply(reply)
      case .failure(let status):
        return .failure(local.failed(&call, status, at: ticks()))
      case .async, .later: return StartedCall(call: call, chain: self).ending(result)
      }
    }
  }

  /// Wraps the handler of a streaming method.
  func intercepting(
    _ handler: @escaping Method.StreamHandler, _ policy: MethodPolicy
  ) -> Method.StreamHandler {
    { messages, context async throws(Status) in
      let generation = callers?.generation
      let started = try start(policy, context)
      let permission = StreamPermission(started)
      let observer = callers?.observe { permission.revalidate() }
      if callers?.generation != generation { permission.revalidate() }
      defer { if let observer { callers?.removeObserver(observer) } }
      try await started.run { () async throws(Status) in
        let stream = InterceptedStream(messages: messages, started: started, permission: permission)
        do throws(Status) {
          try await handler(stream, started.call.context)
        } catch {
          throw permission.denial ?? error
        }
        if let denial = permission.denial { throw denial }
      }
    }
  }
}

/// A call that the interceptors have accepted. Each one has to be ended once, by one of its methods.
struct StartedCall<Shared: Interceptor & Sendable>: Sendable {
  fileprivate(set) var call: CallInFlight
  /// The chain that has accepted the call and has to end it.
  let chain: InterceptorChain<Shared>

  /// Ends a call that succeeded and has no handler.
  func end() {
    var call = call
    chain.interceptors.end(&call, nil)
  }

  /// Ends the call before its handler runs, and returns the status for the caller. The audit entry names what `message`
  /// names; `nil`: the request cannot be read.
  func fail(_ status: Status, reading message: [UInt8]? = nil) -> Status {
    var call = call
    if let message { try? chain.interceptors.receive(message[...], &call) }
    return chain.interceptors.failed(&call, status, at: chain.ticks())
  }

  /// Runs a unary handler with the serialized request.
  func reply(to message: [UInt8], _ handler: Method.AsyncHandler) async throws(Status) -> Reply {
    let rest = try message.withUnsafeBufferPointer { buffer throws(Status) in
      try work(for: UnsafeRawBufferPointer(buffer), handler)
    }
    return try await rest()
  }

  /// Calls a unary handler with the serialized request; returns the rest of the call.
  fileprivate func work(
    for message: UnsafeRawBufferPointer, _ handler: Method.AsyncHandler
  ) throws(Status) -> UnaryWork {
    var started = self
    do throws(Status) {
      try chain.interceptors.receive(message, &started.call)
      let work = try handler(message, started.call.context)
      return { [started] () async throws(Status) in try await started.finish(work) }
    } catch {
      throw started.fail(error)
    }
  }

  /// Calls the handler of a large request with the message that `read` returns; returns the rest of the call.
  fileprivate func work(
    reading read: () throws(Status) -> ArraySlice<UInt8>, _ handler: Method.LargeHandler
  ) throws(Status) -> UnaryWork {
    var started = self
    do throws(Status) {
      let message = try read()
      try chain.interceptors.receive(message, &started.call)
      let work = try handler({ message }, started.call.context)
      return { [started] () async throws(Status) in try await started.finish(work) }
    } catch {
      throw started.fail(error)
    }
  }

  /// Ends the call with the result of its handler; if that is not complete, later.
  fileprivate func ending(_ result: UnaryResult) -> UnaryResult {
    var call = call
    switch result {
    case .reply(var reply):
      chain.interceptors.end(&call, nil)
      reply.attach(requestIDOf: call)
      return .reply(reply)
    case .failure(let status):
      return .failure(chain.interceptors.failed(&call, status, at: chain.ticks()))
    case .async(let work): return .async { () async throws(Status) in try await finish(work) }
    case .later(let pending):
      let ended = PendingResult()
      pending.whenComplete { ended.complete(ending($0)) }
      return .later(ended)
    }
  }

  /// Runs the rest of a unary call, and ends it.
  fileprivate func finish(_ work: UnaryWork) async throws(Status) -> Reply {
    var (reply, call) = try await run(work)
    reply.attach(requestIDOf: call)
    return reply
  }

  /// Runs a handler under the trace of the call, and ends the call.
  @discardableResult
  fileprivate func run<Value: Sendable>(
    _ body: () async throws(Status) -> Value
  ) async throws(Status) -> (value: Value, call: CallInFlight) {
    let scope = CallScope(caller: call.caller)
    let result = await InstrumentationContext.$current.withValue(call.instrumentationContext) {
      await CallScope.$current.withValue(scope) { await Result(of: body) }
    }
    var call = call
    scope.add(to: &call.subject)
    switch result {
    case .success(let value):
      chain.interceptors.end(&call, nil)
      return (value, call)
    case .failure(let status):
      let ticks = chain.ticks()
      throw chain.interceptors.failed(&call, call.seenStatus(status, at: ticks), at: ticks)
    }
  }
}

extension Interceptor {
  /// The same for a message as an array.
  fileprivate func receive(_ message: ArraySlice<UInt8>, _ call: inout CallInFlight) throws(Status) {
    try message.withUnsafeBufferPointer { bytes throws(Status) in
      try receive(UnsafeRawBufferPointer(bytes), &call)
    }
  }

  /// Ends a failed call, and returns its status for the caller.
  fileprivate func failed(_ call: inout CallInFlight, _ failure: Status, at ticks: Int64) -> Status {
    end(&call, failure)
    var status = failure
    if let trace = call.trace { status.requestID = trace.requestID }
    if let delay = status.pushbackMilliseconds, let rest = call.remainingMilliseconds(at: ticks),
      delay >= rest
    {
      // The libraries would wait until the deadline, and then report it instead of the failure.
      status.pushbackMilliseconds = Status.noRetries
    }
    return status
  }
}

extension CallInFlight {
  /// Runs the handler of an event loop, whose reads belong to the span if there is one.
  fileprivate func inSpan(_ handler: () -> UnaryResult) -> UnaryResult {
    guard let span else { return handler() }
    return InstrumentationContext.$current.withValue(span.context) { handler() }
  }
}

extension Reply {
  /// Attaches the request id, under which the logs contain the call.
  fileprivate mutating func attach(requestIDOf call: CallInFlight) {
    guard let trace = call.trace else { return }
    trailingMetadata.append(name: Status.requestIDField, value: trace.requestID)
  }
}

extension Result where Failure == Status, Success: Sendable {
  fileprivate init(of body: () async throws(Status) -> Success) async {
    do throws(Status) { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
