internal import HTTP
internal import RPC
internal import Wire

/// `connectrpc.conformance.v1.ConformanceService`, as github.com/connectrpc/conformance describes it. `Unimplemented` is
/// missing on purpose.
struct ConformanceService: Sendable {
  static let name = "connectrpc.conformance.v1.ConformanceService"

  /// Whether calls without a client certificate fail. TLS itself lets a client connect without one.
  let requiresCertificate: Bool

  var methods: [Method] {
    [
      Method(path: "/\(Self.name)/Unary", handler: .asyncUnary(unary)),
      streaming("ServerStream", serverStream),
      streaming("ClientStream", clientStream),
      streaming("BidiStream", bidiStream),
    ]
  }

  private func streaming(
    _ name: String,
    _ handler: @escaping @Sendable (any MessageStream, RecordedRequest) async throws(Status) -> Void
  ) -> Method {
    Method(
      path: "/\(Self.name)/\(name)",
      handler: .streaming { stream, context async throws(Status) in
        try await handler(stream, try admit(context))
      })
  }

  private func admit(_ context: CallContext) throws(Status) -> RecordedRequest {
    guard !requiresCertificate || context.peer != nil else {
      throw Status(.unauthenticated, "missing client certificate")
    }
    return RecordedRequest(context)
  }

  private func unary(_ bytes: UnsafeRawBufferPointer, _ context: CallContext) throws(Status) -> UnaryWork {
    var call = try admit(context)
    let request: Conformance.UnaryRequest = try decode(Array(bytes))
    call.record(request, bytes: Array(bytes))
    return { [call] () async throws(Status) in
      let definition = request.responseDefinition ?? .init()
      try await pause(milliseconds: definition.responseDelayMs)
      if case .error(let error)? = definition.response {
        throw error.status(call, definition.responseHeaders, definition.responseTrailers)
      }
      var reply = Reply(Conformance.UnaryResponse.with { $0.payload = call.payload(definition) })
      reply.initialMetadata = definition.responseHeaders.metadata.fields
      reply.trailingMetadata = definition.responseTrailers.metadata.fields
      return reply
    }
  }

  private func clientStream(_ stream: any MessageStream, _ received: RecordedRequest) async throws(Status) {
    var call = received
    var first: Conformance.ClientStreamRequest?
    while let message = try await stream.next() {
      let request: Conformance.ClientStreamRequest = try decode(message.bytes)
      call.record(request, bytes: message.bytes)
      first = first ?? request
    }
    let definition = first?.responseDefinition ?? .init()
    await stream.attach(definition.responseHeaders, definition.responseTrailers)
    try await pause(milliseconds: definition.responseDelayMs)
    if case .error(let error)? = definition.response { throw error.status(call) }
    let payload = call.payload(definition)
    try await stream.send(Conformance.ClientStreamResponse.with { $0.payload = payload })
  }

  private func serverStream(_ stream: any MessageStream, _ received: RecordedRequest) async throws(Status) {
    guard let message = try await stream.next(), try await stream.next() == nil else {
      throw Status.oneMessageExpected
    }
    let request: Conformance.ServerStreamRequest = try decode(message.bytes)
    var call = received
    call.record(request, bytes: message.bytes)
    guard let definition = request.responseDefinition else { return }
    await stream.attach(definition.responseHeaders, definition.responseTrailers)
    await stream.begin()
    for (index, data) in definition.responseData.enumerated() {
      let payload = call.payload(data, withRequest: index == 0)
      try await pause(milliseconds: definition.responseDelayMs)
      try await stream.send(Conformance.ServerStreamResponse.with { $0.payload = payload })
    }
    try definition.end(call)
  }

  private func bidiStream(_ stream: any MessageStream, _ received: RecordedRequest) async throws(Status) {
    var call = received
    var first: Conformance.BidiStreamRequest?
    var sent = 0
    while let message = try await stream.next() {
      let request: Conformance.BidiStreamRequest = try decode(message.bytes)
      call.record(request, bytes: message.bytes)
      if first == nil {
        first = request
        await stream.attach(
          request.responseDefinition?.responseHeaders ?? [],
          request.responseDefinition?.responseTrailers ?? [])
      }
      guard let first, first.fullDuplex else { continue }
      // A request beyond the responses ends the call.
      guard let definition = first.responseDefinition, sent < definition.responseData.count else { break }
      var payload = call.payload(definition.responseData[sent], withRequest: true)
      if sent > 0 { payload.requestInfo = .with { $0.requests = call.requests } }
      try await send(payload, after: definition, on: stream)
      sent += 1
      call.requests = []
    }
    guard let definition = first?.responseDefinition else { return }
    for data in definition.responseData.dropFirst(sent) {
      try await send(call.payload(data, withRequest: sent == 0), after: definition, on: stream)
      sent += 1
    }
    try definition.end(call)
  }

  private func send(
    _ payload: Conformance.ConformancePayload, after definition: Conformance.StreamResponseDefinition,
    on stream: any MessageStream
  ) async throws(Status) {
    try await pause(milliseconds: definition.responseDelayMs)
    try await stream.send(Conformance.BidiStreamResponse.with { $0.payload = payload })
  }
}

private func decode<Message: WireMessage>(_ bytes: [UInt8]) throws(Status) -> Message {
  do throws(WireError) {
    return try Message.decode(bytes)
  } catch {
    throw Status(error)
  }
}

private func pause(milliseconds: UInt32) async throws(Status) {
  guard milliseconds > 0 else { return }
  do {
    try await Task.sleep(for: .milliseconds(Int64(milliseconds)))
  } catch {
    throw Status(.cancelled, "the caller has gone")
  }
}
