package import HTTP
internal import JSON
package import RPC
internal import Synchronization
internal import Wire

/// Makes each unary method of the contract callable as JSON over plain HTTP:
/// `POST /package.Service/Method` with protobuf's JSON form of the request.
///
/// The call goes through the same handlers as gRPC. They are not made for several threads, so the gateway
/// has its own and lets one request at a time decide; what has to wait does so outside.
package final class JSONGateway: Sendable {
  private let host: Mutex<MethodHost>

  package init(makeHost: @Sendable () -> sending MethodHost) { host = Mutex(makeHost()) }

  /// Whether a path is one of the contract's.
  package func serves(_ path: String) -> Bool { Self.method(path) != nil }

  /// Answers a request to a path that ``serves(_:)`` accepts.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard let method = Self.method(request.path) else { return .text(404, "there is no such method\n") }
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    let context = CallContext(headers: request.headers, timeout: nil, peer: request.peer)
    // Before the body is read, which strangers could make costly.
    if let refusal = host.withLock({ $0.methods.method(method.fullName)?.admission(context) }) {
      return Self.failure(refusal, httpStatus: refusal.code.httpStatus)
    }
    guard Self.isJSON(request.header("content-type")) else {
      return Self.failure(
        Status(.invalidArgument, "content-type must be application/json"), httpStatus: 415)
    }
    do throws(Status) {
      let reply = try await call(method, try Self.requestBytes(method, request.body), context.admitted)
      var response = HTTPResponse.json(200, try Self.responseJSON(method, reply.message))
      if let id = reply.trailingMetadata[Status.requestIDField] {
        response.headers.append(name: Status.requestIDField, value: id)
      }
      return response
    } catch {
      return Self.failure(error, httpStatus: error.code.httpStatus)
    }
  }

  private static func method(_ path: String) -> MethodDescription? {
    guard let method = Contract.method(named: path), !method.clientStreaming, !method.serverStreaming
    else { return nil }
    return method
  }

  private static func isJSON(_ contentType: String?) -> Bool {
    guard let contentType else { return false }
    return contentType.prefix { $0 != ";" && $0 != " " }.lowercased() == "application/json"
  }

  private func call(
    _ method: MethodDescription, _ bytes: [UInt8], _ context: CallContext
  ) async throws(Status) -> Reply {
    let answer = host.withLock { host in
      defer { host.endTurn() }
      return Answer(host, method.fullName, bytes, context)
    }
    switch answer {
    case .now(let reply): return reply
    case .refused(let status): throw status
    case .later(let work): return try await work()
    }
  }

  private static func requestBytes(_ method: MethodDescription, _ body: [UInt8]) throws(Status) -> [UInt8] {
    do throws(WireError) {
      return try method.requestType.init(json: body.isEmpty ? Array("{}".utf8) : body).encodedBytes()
    } catch {
      throw Status(error)
    }
  }

  private static func responseJSON(_ method: MethodDescription, _ bytes: [UInt8]) throws(Status) -> [UInt8] {
    do throws(WireError) {
      return try method.responseType.decode(bytes).json(pretty: true) + Array("\n".utf8)
    } catch {
      throw Status(.internalError, "the answer cannot be written as JSON: \(error)")
    }
  }

  /// An error in JSON is a `google.rpc.Status`.
  static func failure(_ status: Status, httpStatus: Int) -> HTTPResponse {
    var response = HTTPResponse.json(
      httpStatus, GoogleRPC.Status(status).json(pretty: true) + Array("\n".utf8))
    if !status.requestID.isEmpty {
      response.headers.append(name: Status.requestIDField, value: status.requestID)
    }
    // RFC 9110, section 15.5.2: how to do better.
    if status.code == .unauthenticated {
      response.headers.append(name: "www-authenticate", value: "Bearer")
    }
    return response
  }

  /// What a handler said, in a form that may leave the lock.
  private enum Answer: Sendable {
    case now(Reply)
    case refused(Status)
    case later(@Sendable () async throws(Status) -> Reply)

    init(_ host: MethodHost, _ path: String, _ bytes: [UInt8], _ context: CallContext) {
      guard case .unary(let handler)? = host.methods.method(path)?.handler else {
        self = .refused(Status(.unimplemented, "there is no method \(path)"))
        return
      }
      switch bytes.withUnsafeBytes({ handler($0, context) }) {
      case .now(let reply): self = .now(reply)
      case .refused(let status): self = .refused(status)
      case .later(let work): self = .later(work)
      }
    }
  }
}
