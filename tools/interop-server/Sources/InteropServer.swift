internal import ArgumentParser
internal import Foundation
internal import HTTP
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import RPC
internal import Transport
internal import UnixSignals

/// A server for gRPC's interoperability tests (grpc/doc/interop-test-descriptions.md) and for Connect's conformance
/// tests, on the transport of `entitled`, for clients of any language.
@main
struct InteropServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "interop-server", abstract: "Serve the test services of gRPC and Connect until SIGTERM.")

  @Option(help: "The port; 0 takes a free one.") var port = 8080
  @Option(help: "The address.") var host = "127.0.0.1"
  @Option(name: .customLong("use_tls"), help: "true or false: TLS, or in the clear.") var useTLS = false
  @Option(name: .customLong("tls_cert"), help: "The server's certificate chain, in PEM.") var certificate = ""
  @Option(name: .customLong("tls_key"), help: "Its private key, in PEM.") var key = ""
  @Option(
    name: .customLong("tls_client_ca"),
    help: "The authority of client certificates, in PEM; the conformance service requires one then.")
  var clientAuthority: String?
  @Option(name: .customLong("max_message_bytes"), help: "The maximum size of a request message.")
  var maxMessageBytes = TransportLimits().messageBytes

  func validate() throws {
    guard !useTLS || (!certificate.isEmpty && !key.isEmpty) else {
      throw ValidationError("--use_tls=true needs --tls_cert and --tls_key")
    }
  }

  func run() async throws {
    let files = TLSSettings(certificate: certificate, key: key, clientAuthorities: clientAuthority)
    let tls = try useTLS ? TLSIdentity(files) : nil
    let requiresCertificate = clientAuthority != nil
    var limits = TransportLimits()
    limits.messageBytes = maxMessageBytes
    let listener = try await Listener.listen(
      at: HostAndPort(host: host, port: port), on: MultiThreadedEventLoopGroup.singleton,
      serving: Listener.Service(
        makeHost: { _ in
          MethodHost(methods: MethodTable(Self.methods(requiresCertificate: requiresCertificate)))
        },
        http: { Self.refuse($0) }, limits: limits, tls: tls),
      logger: Logger(label: "interop-server"))
    // Before the address is printed, because its reader may send a signal at once.
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    print("listening on \(listener.address)")
    fflush(nil)
    for await _ in signals { break }
    await listener.shutDown(grace: .seconds(10))
  }

  /// Rejects requests that are not gRPC calls. The status of another content type is 415, as gRPC requires.
  private static func refuse(_ request: HTTPRequest) -> HTTPResponse {
    .text(request.method == "POST" ? 415 : 404, "this is a gRPC interoperability server\n")
  }

  private static func methods(requiresCertificate: Bool) -> [Method] {
    InteropService().methods + ConformanceService(requiresCertificate: requiresCertificate).methods
      + ReflectionService(
        services: ["grpc.testing.TestService", ConformanceService.name] + ReflectionService.names
      ).methods
  }
}
