import GRPCCore
import GRPCNIOTransportHTTP2
import GRPCProtobuf
import SwiftProtobuf

/// A connection to `entitled`. All tasks can share it; it reconnects by itself.
///
/// `run()` keeps the connection; calls wait until it is running. `withEntitledClient` does both. Reads wait for a
/// connection, and ``retrying(_:)`` repeats them; a write is left to the caller, who knows whether it has an idempotency
/// key.
/// Failed calls of this type throw `EntitledError`; those of the generated clients throw `RPCError`, which
/// `EntitledError.init(_:)` takes.
public struct EntitledClient: Sendable {
  /// gRPC over HTTP/2 on SwiftNIO.
  public typealias Transport = HTTP2ClientTransport.Posix
  /// One change of a customer's entitlement, or an event of a purchase.
  public typealias Event = Entitled_V1_EntitlementEvent

  /// The configured name of the app.
  public let app: String
  /// The environment of the purchases.
  public let environment: Entitled_V1_Environment
  /// Every method of the contract's services, with generated messages.
  public let services: EntitledServices<Transport>

  /// The deadline of calls that name none.
  let timeout: Duration

  private let grpc: GRPCClient<Transport>

  /// A token is sent over an unencrypted connection to loopback addresses only; `security` is `.tls` or `.mTLS` for
  /// all others. `timeout` is the deadline of calls that name none.
  ///
  /// - Throws: `EntitledError` with UNAUTHENTICATED for a token that would leave the machine unencrypted; the
  ///   transport's error for a certificate that cannot be read.
  public init(
    host: String, port: Int, app: String, environment: Entitled_V1_Environment = .unspecified,
    token: String? = nil,
    security: Transport.TransportSecurity? = nil, timeout: Duration = .seconds(5)
  ) throws {
    let isLocal = ["localhost", "::1"].contains(host) || host.wholeMatch(of: /127(\.\d+){3}/) != nil
    if token != nil, security == nil, !isLocal {
      throw EntitledError(
        code: .unauthenticated,
        message: "the token would be sent to \(host) without encryption; pass .tls as security")
    }
    let transport = try Transport(
      target: .dns(host: host, port: port), transportSecurity: security ?? .plaintext,
      config: Self.config, serviceConfig: Self.serviceConfig(timeout: timeout))
    grpc = GRPCClient(transport: transport, interceptors: token.map { [BearerToken(token: $0)] } ?? [])
    services = EntitledServices(client: grpc)
    self.app = app
    self.environment = environment
    self.timeout = timeout
  }

  /// Keeps the connection until `shutDown()`, or until the task is cancelled.
  public func run() async throws {
    try await grpc.runConnections()
  }

  /// Lets `run()` return when the calls that run have ended.
  public func shutDown() {
    grpc.beginGracefulShutdown()
  }

  /// Returns whether the customer has the entitlement, and why.
  ///
  /// `atLeast` is the `position` of a response to a write: the answer, of whatever replica, includes that write.
  public func check(
    customerID: String, entitlement: String, atLeast position: String? = nil
  ) async throws(EntitledError) -> Entitled_V1_Entitlement {
    let request = Entitled_V1_CheckRequest.with {
      $0.app = app
      $0.environment = environment
      $0.customerID = customerID
      $0.entitlement = entitlement
    }
    let metadata: Metadata = position.map { ["entitled-at-least": "\($0)"] } ?? [:]
    return try await repeating { options in
      try await services.entitlement.check(request, metadata: metadata, options: options).entitlement
    }
  }

  /// Submits a StoreKit 2 transaction (`jwsRepresentation`) for the customer. It is stored when this returns.
  public func submit(
    customerID: String, signedTransaction: String
  ) async throws(EntitledError) -> Entitled_V1_SubmitTransactionResponse {
    let request = Entitled_V1_SubmitTransactionRequest.with {
      $0.app = app
      $0.customerID = customerID
      $0.signedTransaction = signedTransaction
    }
    return try await EntitledError.wrapping { try await services.receipt.submitTransaction(request) }
  }

  private static let config = Transport.Config.defaults { config in
    // Calls on a connection that is dead end, and so do streams without an event.
    config.connection.keepalive = HTTP2ClientTransport.Config.Keepalive(
      time: .seconds(30), timeout: .seconds(20), allowWithoutCalls: false)
    // A restart of the service takes less than the second that grpc-swift would wait.
    config.backoff.initial = .milliseconds(100)
    config.backoff.max = .seconds(10)
  }

  private static func serviceConfig(timeout: Duration) -> ServiceConfig {
    let methods = EntitledMethod.all
    let reads = methods.filter { $0.onlyReads && !$0.isStreaming }.map(\.name)
    let writes = methods.filter { !$0.onlyReads && !$0.isStreaming }.map(\.name)
    return ServiceConfig(methodConfig: [
      // A broken connection is made again within seconds; a read waits for that instead of failing at once. Without a
      // retry policy, because grpc-swift does not limit such a wait of a call with one by the timeout.
      MethodConfig(names: reads, waitForReady: true, timeout: timeout),
      MethodConfig(names: writes, timeout: timeout),
    ])
  }
}

/// Runs `body` with a connected client, and closes the connection afterwards.
public func withEntitledClient<Result: Sendable>(
  host: String, port: Int, app: String, environment: Entitled_V1_Environment = .unspecified,
  token: String? = nil,
  security: EntitledClient.Transport.TransportSecurity? = nil, timeout: Duration = .seconds(5),
  _ body: @Sendable (EntitledClient) async throws -> Result
) async throws -> Result {
  let client = try EntitledClient(
    host: host, port: port, app: app, environment: environment, token: token, security: security,
    timeout: timeout)
  return try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await client.run() }
    let result = try await body(client)
    client.shutDown()
    return result
  }
}

/// Adds the bearer token to every call.
private struct BearerToken: ClientInterceptor {
  let token: String

  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingClientRequest<Input>, context: ClientContext,
    next: (StreamingClientRequest<Input>, ClientContext) async throws -> StreamingClientResponse<Output>
  ) async throws -> StreamingClientResponse<Output> {
    var request = request
    request.metadata.replaceOrAddString("Bearer \(token)", forKey: "authorization")
    return try await next(request, context)
  }
}
