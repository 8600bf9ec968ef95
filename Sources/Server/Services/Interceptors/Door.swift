package import AppStore
package import Callers
package import HTTP
package import RPC
package import Telemetry
internal import Wire

/// Who may call the services, and who is told of what they do.
package struct Door: Sendable {
  let callers: CurrentCallers
  let now: @Sendable () -> Instant
  let ticks: @Sendable () -> Int64
  let write: @Sendable (AuditRecord) -> Void
  let meter: CallMeter
  private let indices: [String: Int]

  /// A door by its parts.
  ///
  /// - Parameters:
  ///   - callers: who is let in.
  ///   - now: the time by which signed tokens are judged; not a sandbox's, since others sign them.
  ///   - ticks: nanoseconds of a clock that only goes forward.
  ///   - write: is told of every call that changes something, or was refused to, or that the service failed. It
  ///     must not wait.
  package init(
    callers: CurrentCallers, now: @escaping @Sendable () -> Instant, ticks: @escaping @Sendable () -> Int64,
    write: @escaping @Sendable (AuditRecord) -> Void
  ) {
    self.callers = callers
    self.now = now
    self.ticks = ticks
    self.write = write
    let methods = Contract.services.flatMap(\.methods).map(\.fullName)
    meter = CallMeter(
      methods: methods + ["other"], codeNames: (0...16).map { StatusCode(rawValue: $0)?.name ?? "UNKNOWN" })
    indices = Dictionary(methods.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// How calls are counted, for a scrape.
  package var calls: any MetricsSource { meter }

  /// Where the meter counts a method.
  func index(of path: String) -> Int { indices[path] ?? indices.count }

  /// Whether a plain HTTP request may be answered that takes a role; `nil` if so, else the refusal.
  package func refusal(of headers: HeaderFields, needing role: Role) -> Status? {
    do throws(Status) {
      let gate = Authenticator(callers, now: now)
      let caller = try gate.caller(of: CallContext(headers: headers, timeout: nil))
      guard caller.has(role) else {
        throw Status(CallerError.roleMissing(caller: caller.name, needed: role))
      }
      return nil
    } catch {
      return error
    }
  }
}

// Calls that go on away from the event loop.
extension Door {
  typealias Work = @Sendable () async throws(Status) -> Reply
  typealias Streaming = @Sendable (any MessageStream, CallContext) async throws(Status) -> Void

  /// The same work, counted and written down when it is done. Its logs name the trace, and so does its answer.
  func following(_ work: @escaping Work, _ call: CallInFlight) -> UnaryResult {
    .later { () async throws(Status) in
      let outcome = await TraceContext.$current.withValue(call.trace) { await result(of: work) }
      switch outcome {
      case .success(var reply):
        ended(call, .ok)
        reply.trailingMetadata.append(name: Status.requestIDField, value: call.trace.requestID)
        return reply
      case .failure(let status):
        throw failed(call, status)
      }
    }
  }

  /// The same stream, let in, counted and written down.
  func streaming(_ handler: @escaping Streaming, _ desk: MethodDesk) -> Streaming {
    { messages, context async throws(Status) in
      var call = desk.call(context, ticks())
      let outcome: Result<Void, Status>
      do throws(Status) {
        var context = context
        let caller = try admitted(&context, desk, at: call.start)
        call.caller = caller.name
        let messages = ReceivedMessages(messages: messages, caller: caller, desk: desk)
        outcome = await TraceContext.$current.withValue(call.trace) { [context] in
          await result { () async throws(Status) in try await handler(messages, context) }
        }
      } catch {
        outcome = .failure(error)
      }
      switch outcome {
      case .success: ended(call, .ok)
      case .failure(let status):
        throw failed(call, status)
      }
    }
  }

  /// The status that the caller is told.
  private func failed(_ call: CallInFlight, _ status: Status) -> Status {
    ended(call, status)
    var status = status
    status.requestID = call.trace.requestID
    return status
  }

  private func admitted(
    _ context: inout CallContext, _ desk: MethodDesk, at start: Int64
  ) throws(Status) -> Caller {
    guard desk.access.role != nil else { return .anyone }
    let caller = try Authenticator(callers, now: now).caller(of: context)
    context = context.called(by: caller.name)
    try desk.admit(caller, at: start)
    return caller
  }

  private func ended(_ call: CallInFlight, _ status: Status) {
    let nanoseconds = ticks() - call.start
    let status = call.seen(status, after: nanoseconds)
    meter.shared.count(call.desk.index, code: status.code.rawValue, nanoseconds: nanoseconds)
    if call.desk.isWrittenDown(status.code) { write(call.record(status)) }
  }

  private func result<Value>(of work: () async throws(Status) -> Value) async -> Result<Value, Status> {
    do throws(Status) { return .success(try await work()) } catch { return .failure(error) }
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

  func send(_ message: [UInt8], packing: MessageCompression) async throws(Status) {
    try await messages.send(message, packing: packing)
  }

  func attach(initial: Metadata, trailing: Metadata) async {
    await messages.attach(initial: initial, trailing: trailing)
  }
}
