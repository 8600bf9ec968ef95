internal import ArgumentParser
internal import EntitledClient
internal import Foundation
internal import SignedData
internal import Transport
internal import Wire

/// What the commands that call a server have in common.
struct ClientOptions: ParsableArguments {
  @Option(help: "The server's gRPC address (default: \(ServerOption.grpc.fallback), or ENTITLED_GRPC).")
  var grpc: String?

  @Option(help: "A file with the bearer token to call with (else the one in ENTITLED_TOKEN).")
  var tokenFile: String?

  @Flag(help: "Call over TLS (or ENTITLED_TLS=true); also if one of the files below is given.")
  var tls = false

  @Option(help: "The authorities to believe, in PEM (else ENTITLED_TLS_CA, else the system's).")
  var tlsCa: String?

  @Option(help: "A certificate to call with, in PEM (else ENTITLED_TLS_CERTIFICATE).")
  var tlsCertificate: String?

  @Option(help: "Its key, in PEM (else ENTITLED_TLS_KEY).")
  var tlsKey: String?

  @Flag(help: "Print the answer as JSON.")
  var json = false

  /// Connects, lets `body` call, and turns what goes wrong into a line for a person.
  func withConnection<Result>(_ body: (ClientConnection) async throws -> Result) async throws -> Result {
    let address = try ServerOption.grpc.address(grpc)
    return try await Self.withConnection(
      to: address, token: try token(), tls: security(serverName: address.host), body)
  }

  /// How to make sure of the server; `nil`: in the clear.
  private func security(serverName: String) -> ClientTLS? {
    let tls = ClientTLS(
      authorities: tlsCa ?? ServerOption.environment("ENTITLED_TLS_CA"),
      certificate: tlsCertificate ?? ServerOption.environment("ENTITLED_TLS_CERTIFICATE"),
      key: tlsKey ?? ServerOption.environment("ENTITLED_TLS_KEY"), serverName: serverName)
    let isWanted = self.tls || ServerOption.environment("ENTITLED_TLS") == "true"
    return isWanted || tls.authorities != nil || tls.certificate != nil ? tls : nil
  }

  /// Connects and lets `body` call; what goes wrong is for the caller to judge.
  func withReachableServer<Result>(
    _ body: (ClientConnection) async throws(ClientError) -> Result
  ) async throws -> Result {
    let address = try ServerOption.grpc.address(grpc)
    return try await ClientConnection.withConnection(
      host: address.host, port: address.port, token: try token(), body)
  }

  /// Never a flag: everybody on the machine can see those.
  private func token() throws -> String? {
    guard let tokenFile else { return ServerOption.environment("ENTITLED_TOKEN") }
    do { return try PrivateKeyFile.readSecret(tokenFile) } catch { throw Failure(error.description) }
  }

  static func withConnection<Result>(
    to address: HostAndPort, token: String? = nil, tls: ClientTLS? = nil,
    _ body: (ClientConnection) async throws -> Result
  ) async throws -> Result {
    do {
      return try await ClientConnection.withConnection(
        host: address.host, port: address.port, token: token, tls: tls, body)
    } catch let error as ClientError {
      throw Failure(error.description)
    }
  }

  /// Prints a message: as JSON if asked, else the rows given.
  func show(_ message: some WireMessage, _ rows: [(String, String)]) {
    print(json ? String(decoding: message.json(pretty: true), as: UTF8.self) : Table.aligned(rows))
  }
}

/// Names and values in two columns, rows without a value left out.
enum Table {
  static func aligned(_ rows: [(String, String)]) -> String {
    let shown = rows.filter { !$0.1.isEmpty }
    let width = shown.map(\.0.count).max() ?? 0
    return shown.map { name, value in
      name + String(repeating: " ", count: width - name.count + 2) + value
    }.joined(separator: "\n")
  }
}

/// A document given as an argument, as `@FILE`, or as `-` for the standard input.
enum Document {
  /// A document that is text.
  static func read(_ argument: String) throws -> String {
    String(decoding: try bytes(argument), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// A document of any kind, as it is.
  static func bytes(_ argument: String) throws -> Data {
    if argument == "-" { return FileHandle.standardInput.readDataToEndOfFile() }
    guard argument.hasPrefix("@") else { return Data(argument.utf8) }
    let path = String(argument.dropFirst())
    guard let contents = FileManager.default.contents(atPath: path) else {
      throw Failure("cannot read \(path)")
    }
    return contents
  }
}
