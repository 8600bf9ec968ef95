package import HTTP
internal import NIOCore
internal import NIOPosix
internal import Platform
package import RPC
package import Wire

/// The reason a call has no usable response.
package enum ClientError: Error, Sendable {
  /// No connection could be established.
  case unreachable(address: String, reason: String)
  /// The connection ended before the response was complete; `reason` is `nil` if nothing says why.
  case connectionLost(address: String, reason: String?)
  /// The server returned a status other than OK.
  case failed(Status)
  /// The response violates the gRPC protocol; the value says how.
  case notGRPC(String)
}

extension ClientError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unreachable(let address, let reason): "cannot reach \(address): \(reason)"
    case .connectionLost(let address, let reason):
      "the connection to \(address) was lost" + (reason.map { ": \($0)" } ?? "")
    case .failed(let status): status.description
    case .notGRPC(let problem): "not a gRPC server: \(problem)"
    }
  }
}

/// A complete response to an HTTP request.
package struct ClientResponse: Sendable {
  /// The fields before the body, with `:status`.
  package var head: HeaderFields
  /// Without a size limit, because the client trusts its own server.
  package var body: [UInt8]
  /// The fields after the body; empty without any.
  package var trailers: HeaderFields
}

/// One HTTP/2 connection to a server, for any number of concurrent calls. It does not reconnect: a lost connection
/// fails all calls in flight and all later ones.
package struct ClientConnection: Sendable {
  let channel: any Channel
  private let address: String
  let handler: NIOLoopBound<ClientHandler>
  private let token: String?
  private let scheme: String

  /// Connects, runs `body`, and disconnects. gRPC calls carry the bearer token, if one is given; without `tls`, the
  /// connection is cleartext.
  ///
  /// - Throws: ``ClientError/unreachable(address:reason:)``, and the errors of `body`.
  package static func withConnection<Result>(
    host: String, port: Int, token: String? = nil, tls: ClientTLS? = nil,
    _ body: (ClientConnection) async throws -> Result
  ) async throws -> Result {
    let connection = try await connect(host: host, port: port, token: token, tls: tls)
    do {
      let result = try await body(connection)
      await connection.close()
      return result
    } catch {
      await connection.close()
      throw error
    }
  }

  /// Connects within five seconds, trying each address of the host.
  private static func connect(
    host: String, port: Int, token: String?, tls: ClientTLS?
  ) async throws(ClientError) -> ClientConnection {
    let address = "\(host):\(port)"
    do {
      let (channel, handler) = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .connectTimeout(.seconds(5))
        .connect(host: host, port: port) { channel in
          channel.eventLoop.makeCompletedFuture {
            if let tls { try channel.pipeline.syncOperations.addHandler(tls.makeHandler()) }
            let handler = try ClientHandler()
            try channel.pipeline.syncOperations.addHandler(handler)
            return (channel, NIOLoopBound(handler, eventLoop: channel.eventLoop))
          }
        }
      return ClientConnection(
        channel: channel, address: address, handler: handler, token: token,
        scheme: tls == nil ? "http" : "https")
    } catch {
      throw .unreachable(address: address, reason: reason(of: error))
    }
  }

  /// The errors of the operating system, one for each address that the host name resolves to.
  private static func reason(of error: any Error) -> String {
    guard let attempts = (error as? NIOConnectionError)?.connectionErrors, !attempts.isEmpty else {
      return "\(error)"
    }
    let reasons = attempts.map { attempt in
      (attempt.error as? IOError).map { SystemError.text($0.errnoCode) } ?? "\(attempt.error)"
    }
    return reasons.joined(separator: "; ")
  }

  /// Sends GOAWAY and waits until the connection is closed.
  private func close() async {
    channel.eventLoop.execute { handler.value.close() }
    try? await channel.closeFuture.get()
  }

  /// Makes an HTTP request without gRPC. Any status is a response.
  ///
  /// - Throws: ``ClientError/connectionLost(address:reason:)``. The server may have received the request.
  package func request(
    _ method: String, _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []
  ) async throws(ClientError) -> ClientResponse {
    let fields = requestFields(method, target, headers)
    do {
      return try await channel.eventLoop.flatSubmit {
        let promise = channel.eventLoop.makePromise(of: ClientResponse.self)
        handler.value.send(fields, body: body, UnaryResponse(promise))
        return promise.futureResult
      }.get()
    } catch {
      throw .connectionLost(address: address, reason: (error as? LostConnection)?.reason)
    }
  }

  /// Makes a unary gRPC call to `path`, which is `/package.Service/Method`. The timeout is also sent to the server. A
  /// call is made once: only its caller knows whether it may be repeated.
  ///
  /// - Throws: ``ClientError/failed(_:)`` with the server's status, ``ClientError/notGRPC(_:)``,
  ///   ``ClientError/connectionLost(address:reason:)``.
  package func call<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ request: Request, returning: Response.Type = Response.self, timeoutSeconds: Int64 = 30
  ) async throws(ClientError) -> Response {
    var body: [UInt8] = []
    MessageFrame.append(request.encodedBytes(), to: &body, encoding: .identity)
    let response = try await self.request(
      "POST", path, headers: callHeaders(timeoutSeconds: timeoutSeconds), body: body)
    return try Self.message(of: response)
  }

  /// The header fields that only gRPC calls have.
  func callHeaders(timeoutSeconds: Int64?) -> [(name: String, value: String)] {
    let timeout = timeoutSeconds.map { Timeout(nanoseconds: $0 * 1_000_000_000).headerValue }
    return [
      ("content-type", "application/grpc"), ("te", "trailers"), ("user-agent", "entitled"),
    ] + (timeout.map { [("grpc-timeout", $0)] } ?? [])
      + (token.map { [("authorization", "Bearer \($0)")] } ?? [])
  }

  /// All header fields of a request.
  func requestFields(
    _ method: String, _ target: String, _ headers: [(name: String, value: String)]
  ) -> HeaderFields {
    HeaderFields(
      [(":method", method), (":scheme", scheme), (":path", target), (":authority", address)] + headers)
  }

  /// The one message of a response with status OK.
  private static func message<Response: WireMessage>(
    of response: ClientResponse
  ) throws(ClientError) -> Response {
    guard let status = Status(fields: response.trailers) ?? Status(fields: response.head) else {
      throw .notGRPC("it returned HTTP \(response.head[":status"] ?? "without a status")")
    }
    guard status.code == .ok else { throw .failed(status) }
    let decoded: Result<Response, ClientError> = response.body.withUnsafeBytes { bytes in
      do {
        guard let frame = try MessageFrame(prefixOf: bytes, limit: bytes.count),
          bytes.count == frame.totalLength, !frame.isCompressed
        else { return .failure(.notGRPC("the response is not one message")) }
        return .success(
          try Response.decode(UnsafeRawBufferPointer(rebasing: bytes[MessageFrame.prefixLength...])))
      } catch {
        return .failure(.notGRPC("the response cannot be decoded: \(error)"))
      }
    }
    return try decoded.get()
  }
}
