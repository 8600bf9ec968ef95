internal import Glibc
internal import HTTP
internal import NIOCore
internal import NIOPosix
internal import RPC
package import Wire

/// One HTTP/2 connection to a server, for any number of calls at once.
package struct ClientConnection: Sendable {
  let channel: any Channel
  private let address: String
  let handler: NIOLoopBound<ClientHandler>
  private let token: String?
  private let scheme: String

  /// Connects, lets `body` call, and disconnects. gRPC calls carry the bearer token, if there is one; without
  /// `tls` all is in the clear.
  ///
  /// - Throws: ``ClientError/unreachable(address:reason:)``, and what `body` throws.
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

  /// The system's words for why nobody was reached, at each address that the name has.
  private static func reason(of error: any Error) -> String {
    guard let attempts = (error as? NIOConnectionError)?.connectionErrors, !attempts.isEmpty else {
      return "\(error)"
    }
    let reasons = attempts.map { attempt in
      (attempt.error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(attempt.error)"
    }
    return reasons.joined(separator: "; ")
  }

  private func close() async {
    channel.eventLoop.execute { handler.value.close() }
    try? await channel.closeFuture.get()
  }

  /// Makes a plain HTTP request.
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
      throw .connectionLost(address: address)
    }
  }

  /// Makes a unary gRPC call to `path`, which is `/package.Service/Method`. It waits as long as
  /// `timeoutSeconds` say, and the server is told so, too.
  package func call<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ request: Request, returning: Response.Type = Response.self, timeoutSeconds: Int64 = 30
  ) async throws(ClientError) -> Response {
    var body: [UInt8] = []
    MessageFrame.append(request.encodedBytes(), to: &body, encoding: .identity)
    let response = try await self.request(
      "POST", path, headers: callHeaders(timeoutSeconds: timeoutSeconds), body: body)
    return try Self.message(of: response)
  }

  /// The fields of a gRPC call, besides those that every request has.
  func callHeaders(timeoutSeconds: Int64?) -> [(name: String, value: String)] {
    let timeout = timeoutSeconds.map { Timeout(nanoseconds: $0 * 1_000_000_000).headerValue }
    return [
      ("content-type", "application/grpc"), ("te", "trailers"), ("user-agent", "entitled"),
    ] + (timeout.map { [("grpc-timeout", $0)] } ?? [])
      + (token.map { [("authorization", "Bearer \($0)")] } ?? [])
  }

  /// The fields in front of a request.
  func requestFields(
    _ method: String, _ target: String, _ headers: [(name: String, value: String)]
  ) -> HeaderFields {
    HeaderFields(
      [(":method", method), (":scheme", scheme), (":path", target), (":authority", address)] + headers)
  }

  private static func message<Response: WireMessage>(
    of response: ClientResponse
  ) throws(ClientError) -> Response {
    guard let status = Status(fields: response.trailers) ?? Status(fields: response.head) else {
      throw .notGRPC("it answered HTTP \(response.head[":status"] ?? "without a status")")
    }
    guard status.code == .ok else { throw .failed(status) }
    let decoded: Result<Response, ClientError> = response.body.withUnsafeBytes { bytes in
      do {
        guard let frame = try MessageFrame(prefixOf: bytes, limit: bytes.count),
          bytes.count == frame.totalLength, !frame.isCompressed
        else { return .failure(.notGRPC("its answer is not one message")) }
        return .success(
          try Response.decode(UnsafeRawBufferPointer(rebasing: bytes[MessageFrame.prefixLength...])))
      } catch {
        return .failure(.notGRPC("its answer cannot be read: \(error)"))
      }
    }
    return try decoded.get()
  }
}
