package import ArgumentParser
internal import CommandSupport
package import EntitledClient
internal import Foundation
internal import Platform
internal import RPC
internal import SignedData
internal import Transport
package import Wire

/// The options of all commands that call a server.
package struct ClientOptions: ConnectionOptions {
  @Option(help: "gRPC address of the server (default: ENTITLED_GRPC, or \(ServerOption.grpc.fallback)).")
  var grpc: String?

  @Option(help: "File with the bearer token (default: the token in ENTITLED_TOKEN).")
  var tokenFile: String?

  @Flag(help: "Use TLS (default: ENTITLED_TLS, or true if a TLS file is set).")
  var tls = false

  @Option(help: "PEM file with trusted authorities (default: ENTITLED_TLS_CA, or the system's).")
  var tlsCa: String?

  @Option(help: "PEM file with the client certificate (default: ENTITLED_TLS_CERTIFICATE).")
  var tlsCertificate: String?

  @Option(help: "PEM file with the client's private key (default: ENTITLED_TLS_KEY).")
  var tlsKey: String?

  @Flag(help: "JSON output.")
  package var json = false

  /// Options as the argument parser needs them before it reads the command line.
  package init() {}

  package var client: ClientOptions { self }

  /// The text of an error, with the options that can remove its cause.
  fileprivate func description(of error: ClientError) -> String {
    switch error {
    case .unreachable: "\(error); start the service with 'entitled serve', or set --grpc"
    case .notGRPC: "\(error); --grpc takes the address of the gRPC port"
    case .failed(let status) where status.code == .unauthenticated && (try? token()) == nil:
      "\(error); set ENTITLED_TOKEN or --token-file"
    default: error.description
    }
  }

  /// The TLS settings; `nil` means cleartext.
  private func security(serverName: String) throws(Failure) -> ClientTLS? {
    let tls = ClientTLS(
      authorities: tlsCa ?? ServerOption.environment("ENTITLED_TLS_CA"),
      certificate: tlsCertificate ?? ServerOption.environment("ENTITLED_TLS_CERTIFICATE"),
      key: tlsKey ?? ServerOption.environment("ENTITLED_TLS_KEY"), serverName: serverName)
    guard (tls.certificate == nil) == (tls.key == nil) else {
      throw Failure("--tls-certificate and --tls-key belong together; set both", status: 64)
    }
    for path in [tls.authorities, tls.certificate] { try Self.requirePEM(path, of: "CERTIFICATE") }
    try Self.requirePEM(tls.key, of: "PRIVATE KEY")
    let isRequested = self.tls || ServerOption.environment("ENTITLED_TLS") == "true"
    return isRequested || tls.authorities != nil || tls.certificate != nil ? tls : nil
  }

  /// Checks that a file has something in PEM with a label that ends with `kind`.
  private static func requirePEM(_ path: String?, of kind: String) throws(Failure) {
    guard let path else { return }
    guard access(path, R_OK) == 0 else {
      throw Failure("cannot read '\(path)': \(SystemError.last)")
    }
    let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    guard text.contains("\(kind)-----") else {
      throw Failure("'\(path)' has no \(kind.lowercased()) in PEM")
    }
  }

  /// Connects and runs `body`. Errors of the client are thrown unchanged, so that the caller can retry.
  func withUnmappedErrors<Result>(_ body: (ClientConnection) async throws -> Result) async throws -> Result {
    let address = try ServerOption.grpc.address(grpc)
    return try await ClientConnection.withConnection(
      host: address.host, port: address.port, token: try token(),
      tls: try security(serverName: address.host), body)
  }

  /// The bearer token. There is no option for the token itself, because all users of a machine can read options.
  private func token() throws -> String? {
    guard let tokenFile else { return ServerOption.environment("ENTITLED_TOKEN") }
    do { return try PrivateKeyFile.readSecret(tokenFile) } catch { throw Failure(error.description) }
  }
}

/// An option group of a command that calls a server: it connects, and prints the responses.
package protocol ConnectionOptions: ParsableArguments {
  /// The options of the connection and the output.
  var client: ClientOptions { get }
}

extension ConnectionOptions {
  /// Connects, runs `body`, and converts errors of the client into a ``Failure`` with the option that may remove the
  /// cause. A call that failed is not repeated.
  package func withConnection<Result>(
    _ body: (ClientConnection) async throws -> Result
  ) async throws -> Result {
    do {
      return try await client.withUnmappedErrors(body)
    } catch let error as ClientError {
      throw Failure(client.description(of: error))
    }
  }

  /// Prints `message` as JSON with `--json`, otherwise `rows`.
  package func show(_ message: some WireMessage, _ rows: [(String, String)]) {
    print(client.json ? String(decoding: message.json(pretty: true), as: UTF8.self) : Table.aligned(rows))
  }

  /// Prints a list as JSON with `--json`, otherwise `rows`, or `empty` without rows.
  func showList(_ message: some WireMessage, _ rows: [(String, String)], empty: String) {
    guard client.json || !rows.isEmpty else { return print(empty) }
    show(message, rows)
  }

  /// Fetches and prints all pages of a list. Pages without rows are printed only as JSON; without any row, `empty` is
  /// printed.
  ///
  /// - Returns: the number of rows.
  @discardableResult
  func showPages<Request: PagedRequest, Page: PagedResponse>(
    _ request: Request, _ fetch: (ClientConnection, Request) async throws -> Page, empty: String,
    rows: (Page) -> [(String, String)]
  ) async throws -> Int {
    try await withConnection { connection in
      var (request, count) = (request, 0)
      repeat {
        let page = try await fetch(connection, request)
        let shown = rows(page)
        count += shown.count
        if client.json || !shown.isEmpty { show(page, shown) }
        request.pageToken = page.nextPageToken
      } while !request.pageToken.isEmpty
      if count == 0, !client.json { print(empty) }
      return count
    }
  }
}
