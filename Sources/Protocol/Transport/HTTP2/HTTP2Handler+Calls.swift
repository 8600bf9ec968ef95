internal import HTTP
internal import HTTP2
internal import NIOCore
internal import Platform
internal import RPC

extension HTTP2Handler {
  /// Opens a gRPC call, and answers it at once if its request is complete and its handler synchronous.
  func openCall(_ id: StreamID, _ head: RequestHead, _ fields: HeaderFields) {
    guard !head.hasHost || fields.hasValidHost else { return answerPlain(id, .invalidHost) }
    guard head.isPost else { return answerPlain(id, .methodNotAllowed("POST")) }
    let encoding: MessageEncoding
    switch head.encoding {
    case .known(let known): encoding = known
    case .unknown(let name): return refuseEncoding(id, name)
    }
    guard let index = head.method else {
      return refuse(id, unknownMethod(fields[":path"] ?? ""))
    }
    if let timeout = head.malformedTimeout {
      return refuse(id, Status(.invalidArgument, "malformed grpc-timeout '\(timeout.excerpt)'"))
    }
    // Made in place, because a variable for the context would be copied.
    var call = Call(
      id: id, method: index, context: CallContext(headers: fields, timeout: head.timeout, peer: peer),
      requestEncoding: encoding, acceptsGzip: head.acceptsGzip)
    if let timeout = head.timeout, timeout.nanoseconds == 0 { return refuse(id, .deadlineExceeded) }
    call.context.requiresPosition = head.requiresPosition
    call.context.mayHaveTraceParent = head.hasTraceParent
    call.context.network = remoteNetwork
    let methods = host.methods.methods
    call.isPublic = methods[index].isPublic
    if call.isPublic { session.addWork(TransportLimits.costOfRefusal) }
    if methods[index].needsAddress { call.context.address = remoteIPAddress }
    switch methods[index].handler {
    case .unary(let handler): openUnary(&call, handler)
    case .asyncUnary(let handler):
      openUnary(&call) { UnaryResult(preparing: handler, $0, $1) }
    case .streaming(let handler):
      let isOfHealth = HealthService.serves(methods[index].path)
      if isOfHealth {
        call.context.discardHeaders()
        session.discardHead(of: id)
      }
      // An unauthenticated peer decides how long such a stream lasts.
      if call.isPublic { session.hold(Self.publicStreamBytes, for: id) }
      let exchange = StreamingExchange(
        call, self,
        messageLimit: min(limits.messageBytes, call.isPublic ? Self.publicMessageLimit : .max))
      exchanges[id] = exchange
      exchange.start(handler, on: isOfHealth ? nil : .shared)
    }
  }

  /// The maximum bytes of a message to a public method.
  private static let publicMessageLimit = 64 * 1_024
  /// The memory of a stream to a public method, with its task, in bytes.
  private static let publicStreamBytes = 4 * 1_024

  /// A listener for plain HTTP has no methods at all.
  private func unknownMethod(_ path: String) -> Status {
    let hasMethods = !host.methods.methods.isEmpty
    let problem = hasMethods ? "unknown method" : "this port has no gRPC methods, use the gRPC port"
    return Status(.unimplemented, "\(problem): '\(path.excerpt)'")
  }

  /// Answers a unary call at once if its request is complete.
  private func openUnary(_ call: inout Call, _ handler: @escaping Method.UnaryHandler) {
    if session.hasInboundEnded(of: call.id) {
      answer(&call, handler)
    } else {
      exchanges[call.id] = BufferingUnaryExchange(call, handler, self)
    }
  }

  /// Answers a unary call whose request is complete.
  // A result or a call context that is copied is a measurable part of a call: both pass through without closures that
  // capture them.
  func answer(_ call: inout Call, _ handler: @escaping Method.UnaryHandler) {
    host.tickBegan()
    guard let body = session.inbound(of: call.id) else { return }
    defer { if body.count > Self.smallRequestBytes { session.discardInbound(of: call.id) } }
    guard let outcome = body.withUnsafeBytes({ result($0, &call, handler) }) else {
      let waiting = LargeUnaryExchange(call, handler, self)
      exchanges[call.id] = waiting
      return waiting.start(body, host.methods.methods[call.method].large)
    }
    answer(call, outcome)
  }

  /// Answers a unary call whose request was decompressed.
  func answer(_ call: inout Call, message: [UInt8], _ handler: Method.UnaryHandler) {
    host.tickBegan()
    answer(call, message.withUnsafeBytes { handler($0, call.context) })
  }

  /// Ends a unary call with its result, or starts the rest of it.
  func answer(_ call: Call, _ result: UnaryResult) {
    switch result {
    case .reply(let reply): send(reply, call)
    case .failure(let status):
      if status.code == .unauthenticated {
        host.methods.methods[call.method].unauthenticated?(status, remoteIPAddress)
      }
      refuse(call.id, status)
    case .async(let work):
      let waiting = AsyncUnaryExchange(call, self)
      exchanges[call.id] = waiting
      waiting.start(work)
    case .later(let pending):
      let waiting = AsyncUnaryExchange(call, self)
      exchanges[call.id] = waiting
      waiting.start(pending)
    }
  }

  /// A request with more is freed before its response is read.
  private static let smallRequestBytes = 4 * 1_024

  /// The maximum bytes of a message to the method of a call, compressed or not.
  func messageLimit(of call: Call) -> Int {
    min(limits.messageBytes, host.methods.methods[call.method].messageLimit)
  }

  /// Decodes the only message of a complete request, and calls the handler; `nil` if the message is too large for the loop.
  private func result(
    _ body: UnsafeRawBufferPointer, _ call: inout Call, _ handler: Method.UnaryHandler
  ) -> UnaryResult? {
    guard !body.isEmpty else { return .failure(.oneMessageExpected) }
    let limit = messageLimit(of: call)
    do throws(FramingError) {
      guard let frame = try MessageFrame(prefixOf: body, limit: limit), body.count >= frame.totalLength
      else { throw .truncated }
      guard body.count == frame.totalLength else { return .failure(.oneMessageExpected) }
      call.context.messageWasCompressed = frame.isCompressed
      guard !frame.isCompressed || call.requestEncoding == .gzip else { throw .compressedWithoutEncoding }
      if frame.length > Method.maxBytesOnLoop,
        frame.isCompressed || host.methods.methods[call.method].large != nil
      {
        return nil
      }
      guard frame.isCompressed else { return handler(frame.body(in: body), call.context) }
      session.addWork(Self.workOfInflation)
      guard frame.claimedSize(in: body) <= Method.maxBytesOnLoop else {
        // Four kilobytes may have megabytes.
        session.addWork(Method.maxBytesOnLoop)
        return nil
      }
      let message = try frame.message(
        in: body, encoding: call.requestEncoding, limit: min(Method.maxBytesOnLoop, limit))
      session.addWork(message.count)
      return message.withUnsafeBytes { handler($0, call.context) }
    } catch {
      switch error {
      case .badCompression,
        .tooLarge where call.context.messageWasCompressed:
        session.addWork(Method.maxBytesOnLoop)
        session.countBomb()
      default: break
      }
      return .failure(Status(error))
    }
  }

  /// In bytes, like ``Session/work``.
  private static let workOfInflation = 2 * 1_024
}

/// A gRPC call as its header fields describe it.
struct Call {
  let id: StreamID
  /// The index of its method.
  let method: Int
  var context: CallContext
  let requestEncoding: MessageEncoding
  /// Whether the caller accepts gzip.
  let acceptsGzip: Bool
  /// See ``Method/isPublic``.
  var isPublic = false

  /// The encoding of a message to the caller.
  func encoding(_ compression: MessageCompression) -> MessageEncoding {
    switch compression {
    case .likeRequest: requestEncoding == .gzip && acceptsGzip ? .gzip : .identity
    case .always: acceptsGzip ? .gzip : .identity
    case .never: .identity
    }
  }
}
