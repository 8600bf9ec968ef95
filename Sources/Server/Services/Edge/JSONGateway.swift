package import HTTP
internal import JSON
internal import RPC
internal import Wire

/// Serves each unary method of the contract as JSON over plain HTTP: `POST /package.Service/Method` with
/// protobuf's JSON form of the request.
///
/// Calls pass the same interceptors and handlers as gRPC calls. Each call is independent of the others.
package struct JSONGateway: Sendable {
  private struct Endpoint: Sendable {
    let description: MethodDescription
    let policy: MethodPolicy
    let handler: Method.AsyncHandler
  }

  private let chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>
  private let endpoints: [String: Endpoint]

  /// Serves the unary ones of `methods`.
  init(chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>, methods: [Method]) {
    self.chain = chain
    var endpoints: [String: Endpoint] = [:]
    for method in methods {
      guard case .asyncUnary(let handler) = method.handler,
        let description = Contract.method(named: method.path)
      else { continue }
      endpoints[method.path] = Endpoint(
        description: description, policy: MethodPolicy.of(method.path), handler: handler)
    }
    self.endpoints = endpoints
  }

  /// Whether a path is that of a unary method.
  package func serves(_ path: String) -> Bool { endpoints[path] != nil }

  /// Responds to a request to a path that ``serves(_:)`` accepts.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard let endpoint = endpoints[request.path] else { return .text(404, "there is no such method\n") }
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    do throws(Status) {
      // Before the body is parsed, so that unauthenticated requests stay cheap.
      let call = try chain.start(
        endpoint.policy, CallContext(headers: request.headers, timeout: nil, peer: request.peer))
      guard Self.isJSON(request.header("content-type")) else {
        let status = call.fail(Status(.invalidArgument, "content-type must be application/json"))
        return Self.failure(status, httpStatus: 415)
      }
      let message: [UInt8]
      do throws(Status) {
        message = try Self.requestBytes(endpoint.description, request.body)
      } catch {
        throw call.fail(error)
      }
      let reply = try await call.reply(to: message, endpoint.handler)
      var response = HTTPResponse.json(200, try Self.responseJSON(endpoint.description, reply.message))
      if let id = reply.trailingMetadata[Status.requestIDField] {
        response.headers.append(name: Status.requestIDField, value: id)
      }
      return response
    } catch {
      return Self.failure(error, httpStatus: error.code.httpStatus)
    }
  }

  private static func isJSON(_ contentType: String?) -> Bool {
    guard let contentType else { return false }
    return contentType.prefix { $0 != ";" && $0 != " " }.lowercased() == "application/json"
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
      throw Status(.internalError, "the response cannot be written as JSON: \(error)")
    }
  }

  /// The JSON form of a status: a `google.rpc.Status`.
  static func failure(_ status: Status, httpStatus: Int) -> HTTPResponse {
    var response = HTTPResponse.json(
      httpStatus, GoogleRPC.Status(status).json(pretty: true) + Array("\n".utf8))
    if !status.requestID.isEmpty {
      response.headers.append(name: Status.requestIDField, value: status.requestID)
    }
    // RFC 9110, section 15.5.2, requires a challenge.
    if status.code == .unauthenticated {
      response.headers.append(name: "www-authenticate", value: "Bearer")
    }
    return response
  }
}
