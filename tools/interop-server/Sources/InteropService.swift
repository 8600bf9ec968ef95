internal import HTTP
internal import RPC
internal import Wire

/// `grpc.testing.TestService`, with the features that grpc/doc/interop-test-descriptions.md requires of a server.
/// `UnimplementedCall` is missing on purpose.
struct InteropService: Sendable {
  private typealias Requests = RequestReader<GRPCTesting.StreamingOutputCallRequest>
  private typealias Responses = ResponseWriter<GRPCTesting.StreamingOutputCallResponse>

  var methods: [Method] {
    [
      .unary("/grpc.testing.TestService/EmptyCall") { (_: GRPCTesting.Empty, _) in GRPCTesting.Empty() },
      .eventLoop("/grpc.testing.TestService/UnaryCall", unaryCall),
      .eventLoop("/grpc.testing.TestService/CacheableUnaryCall", cacheableUnaryCall),
      .clientStreaming("/grpc.testing.TestService/StreamingInputCall", streamingInputCall),
      .serverStreaming("/grpc.testing.TestService/StreamingOutputCall") {
        (request: GRPCTesting.StreamingOutputCallRequest, responses: Responses, context)
          async throws(Status) in
        await responses.attach(echoing: context.metadata)
        try await answer(request, responses)
      },
      .bidirectional("/grpc.testing.TestService/FullDuplexCall") {
        (requests: Requests, responses: Responses, context) async throws(Status) in
        await responses.attach(echoing: context.metadata)
        for try await request in requests { try await answer(request, responses) }
      },
      .bidirectional("/grpc.testing.TestService/HalfDuplexCall") {
        (requests: Requests, responses: Responses, context) async throws(Status) in
        await responses.attach(echoing: context.metadata)
        var all: [GRPCTesting.StreamingOutputCallRequest] = []
        for try await request in requests { all.append(request) }
        for request in all { try await answer(request, responses) }
      },
    ]
  }

  private func unaryCall(
    _ request: EncodedRequest<GRPCTesting.SimpleRequest>, _ context: CallContext
  ) throws(Status) -> Reply {
    let request = try request.decoded()
    try request.expectCompressed.require(context.messageWasCompressed)
    let metadata = context.metadata
    do throws(Status) {
      try request.responseStatus.end()
    } catch {
      var failure = error
      failure.initialMetadata = metadata.echoed(EchoedMetadata.initial)
      failure.trailingMetadata = metadata.echoed(EchoedMetadata.trailing)
      throw failure
    }
    var reply = Reply(
      GRPCTesting.SimpleResponse.with { $0.payload = .zeros(request.responseSize) })
    reply.compression = MessageCompression(request.responseCompressed)
    reply.initialMetadata = metadata.echoed(EchoedMetadata.initial).fields
    reply.trailingMetadata = metadata.echoed(EchoedMetadata.trailing).fields
    return reply
  }

  private func cacheableUnaryCall(
    _ request: EncodedRequest<GRPCTesting.SimpleRequest>, _ context: CallContext
  ) throws(Status) -> Reply {
    let nanoseconds = InteropClock.start.duration(to: .now) / .nanoseconds(1)
    var reply = Reply(
      GRPCTesting.SimpleResponse.with {
        $0.payload = .with { $0.body = Array("\(Int64(nanoseconds))".utf8) }
      })
    reply.initialMetadata.append(name: "cache-control", value: "max-age=60, public")
    return reply
  }

  private func streamingInputCall(
    _ requests: RequestReader<GRPCTesting.StreamingInputCallRequest>, _ context: CallContext
  ) async throws(Status) -> GRPCTesting.StreamingInputCallResponse {
    var size = 0
    while let (request, wasCompressed) = try await requests.nextReceived() {
      try request.expectCompressed.require(wasCompressed)
      size += request.payload?.body.count ?? 0
    }
    let total = Int32(clamping: size)
    return .with { $0.aggregatedPayloadSize = total }
  }

  private func answer(
    _ request: GRPCTesting.StreamingOutputCallRequest, _ responses: Responses
  ) async throws(Status) {
    try request.responseStatus.end()
    for parameters in request.responseParameters {
      if parameters.intervalUs > 0 {
        do {
          try await Task.sleep(for: .microseconds(parameters.intervalUs))
        } catch {
          throw Status(.cancelled, "the caller has gone")
        }
      }
      try await responses.write(
        .with { $0.payload = .zeros(parameters.size) }, compression: MessageCompression(parameters.compressed)
      )
    }
  }
}

/// The origin of the times of CacheableUnaryCall, which only have to differ.
private enum InteropClock {
  static let start = ContinuousClock.now
}
