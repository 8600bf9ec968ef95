package import HTTP
internal import Platform
internal import RPC
internal import Wire

/// Serves each unary method of the contract by the Connect protocol: `POST /package.Service/Method` with a message as
/// JSON or protobuf, and GET for methods without side effects.
///
/// Calls pass the same interceptors and handlers as gRPC calls. Each call is independent of the others. A message has
/// at most 4 MiB when it is decompressed; the listener limits the body before that.
package struct ConnectEndpoint: Sendable {
  private struct UnaryMethod: Sendable {
    let description: MethodDescription
    let policy: MethodPolicy
    let handler: Method.AsyncHandler
  }

  private let chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>
  private let methods: [String: UnaryMethod]

  /// Serves the unary ones of `methods`.
  init(chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>, methods: [Method]) {
    self.chain = chain
    var unaryMethods: [String: UnaryMethod] = [:]
    for method in methods {
      guard case .asyncUnary(let handler) = method.handler,
        let description = Contract.method(named: method.path)
      else { continue }
      unaryMethods[method.path] = UnaryMethod(
        description: description, policy: MethodPolicy.of(method.path), handler: handler)
    }
    self.methods = unaryMethods
  }

  /// Whether a path is that of a unary method.
  package func serves(_ path: String) -> Bool { methods[path] != nil }

  /// Responds to a request to a path that ``serves(_:)`` accepts.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard let method = methods[request.path] else {
      return .text(404, "unknown method: \(request.path.excerpt)\n")
    }
    guard request.method == "POST" || (request.method == "GET" && method.description.hasNoSideEffects) else {
      return .methodNotAllowed(method.description.hasNoSideEffects ? "GET, POST" : "POST")
    }
    let decoded = Result { () throws(ConnectRequest.Rejection) in try ConnectRequest(request) }
    do throws(Status) {
      // Before the message is decoded, so that unauthenticated requests stay cheap.
      var context = CallContext(request, timeout: (try? decoded.get())?.timeout)
      context.findRequiredPosition()
      let call = try chain.start(method.policy, context) { _ in
        try? Self.rejectedMessage(of: decoded.get(), method.description)
      }
      switch decoded {
      case .failure(.unsupportedCodec):
        return HTTPResponse.unsupportedConnectCodec(call.fail(.unsupportedConnectCodec))
      case .failure(.status(let status)):
        throw call.fail(status)
      case .success(let decoded):
        var response = try await respond(to: decoded, of: method, call)
        // Answers about customers are not for caches.
        if request.method == "GET" { response.headers.append(name: "cache-control", value: "no-store") }
        return response
      }
    } catch {
      return HTTPResponse(connectError: error)
    }
  }

  /// Decodes the message, runs the handler within the caller's timeout, and encodes the response in the codec of the
  /// request.
  private func respond(
    to request: ConnectRequest, of method: UnaryMethod,
    _ call: StartedCall<CallInterceptors<AuthenticationInterceptor>>
  ) async throws(Status) -> HTTPResponse {
    let message: [UInt8]
    do throws(Status) {
      if request.timeout?.nanoseconds == 0 { throw Self.deadlineExceeded }
      message = try Self.message(of: request, method.description, limit: Self.maxMessageBytes)
    } catch {
      throw call.fail(error)
    }
    let handler = method.handler
    let reply = try await Self.run(within: request.timeout) { () async throws(Status) in
      try await call.reply(to: message, handler)
    }
    return HTTPResponse(
      connect: try Self.content(of: reply, request.codec, method.description), reply, to: request)
  }

  /// The serialized message of a request.
  private static func message(
    of request: ConnectRequest, _ method: MethodDescription, limit: Int
  ) throws(Status) -> [UInt8] {
    let content = try request.message(limit: limit)
    guard request.codec == .json else { return content }
    do throws(WireError) {
      return try method.requestType.init(json: content).encodedBytes()
    } catch {
      throw Status(error)
    }
  }

  /// The serialized message of a request that is rejected, for its audit entry. A caller over its rate limit must stay cheap:
  /// only a small message is decompressed, or parsed as JSON. Of protobuf a few fields are read.
  private static func rejectedMessage(
    of request: ConnectRequest, _ method: MethodDescription
  ) throws(Status) -> [UInt8]? {
    let content = try request.message(limit: maxRejectedBytes)
    guard request.codec == .json else { return content }
    return content.count <= maxRejectedBytes ? try message(of: request, method, limit: maxRejectedBytes) : nil
  }

  /// The message of the response in a codec. Handlers return protobuf, whatever the caller sent.
  private static func content(
    of reply: Reply, _ codec: ConnectCodec, _ method: MethodDescription
  ) throws(Status) -> [UInt8] {
    guard codec == .json else { return reply.message }
    do throws(WireError) {
      return try method.responseType.decode(reply.message).json(pretty: true) + [UInt8(ascii: "\n")]
    } catch {
      throw Status(.internalError, "the response cannot be written as JSON: \(error)")
    }
  }

  /// Runs a call as a separate task, which is cancelled at the deadline or when the caller disconnects. The response
  /// at the deadline does not wait for the task.
  private static func run(
    within timeout: Timeout?, _ call: @escaping @Sendable () async throws(Status) -> Reply
  ) async throws(Status) -> Reply {
    guard let timeout else { return try await call() }
    let (results, result) = AsyncStream.makeStream(
      of: Result<Reply, Status>.self, bufferingPolicy: .bufferingOldest(1))
    let work = Task(executorPreference: BackgroundThreads.shared) {
      do throws(Status) { result.yield(.success(try await call())) } catch { result.yield(.failure(error)) }
    }
    let timer = Task {
      try await Task.sleep(for: .nanoseconds(timeout.nanoseconds))
      result.yield(.failure(deadlineExceeded))
    }
    defer {
      work.cancel()
      timer.cancel()
    }
    // The iteration ends without a result when the caller disconnects.
    for await result in results { return try result.get() }
    throw Status(.cancelled, "the caller has disconnected")
  }

  private static let deadlineExceeded = Status(
    .deadlineExceeded, reason: "DEADLINE_EXCEEDED", "the caller's deadline has passed")

  /// The maximum size of a decompressed message, like that of a message of gRPC.
  private static let maxMessageBytes = 4 << 20
  /// The maximum size of what is decompressed, or parsed as JSON, although the call is rejected.
  private static let maxRejectedBytes = 64 << 10
}
