internal import Foundation
package import PostgreSQL
internal import Synchronization
internal import TestSupport

/// A PostgreSQL server with PgBouncer in transaction mode, which `tools/postgres-server` runs until this process ends.
package final class PostgresServer: Sendable {
  /// The output of `tools/postgres-server`.
  private struct Addresses: Decodable {
    let socket: String
    let port: Int
    let pooledPort: Int
    let user: String
    let password: String
    let root: String
  }

  private let addresses: Addresses
  private let running: Mutex<Command.Running>
  private static let tool = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../tools/postgres-server").standardizedFileURL.path

  /// Whether tests can use a server; where they must, as in CI, they fail without it.
  package static let canRun: Bool = {
    let files = FileManager.default
    let versions = (try? files.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let isInstalled =
      versions.contains { Int($0) ?? 0 >= 15 } && files.fileExists(atPath: "/usr/sbin/pgbouncer")
    return isInstalled || ProcessInfo.processInfo.environment["CI"] != nil
  }()

  /// The comment of tests that are skipped.
  package static let isMissing: String =
    "PostgreSQL 15 or PgBouncer is not installed; run tools/bootstrap --test"

  /// The server of tests that leave it running, without durability.
  package static func shared() throws -> PostgresServer { try sharedServer.get() }

  private static let sharedServer = Result { try PostgresServer(["--fsync", "off"]) }

  /// Starts a server with arguments of the tool, and waits until it accepts connections.
  package init(_ arguments: [String]) throws {
    let running = try Command.start(Self.tool, arguments)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard let line = Self.readLine(running.output) else {
      throw Failure(text: "tools/postgres-server failed")
    }
    addresses = try decoder.decode(Addresses.self, from: line)
    self.running = Mutex(running)
  }

  /// Options of a session of the database `name`, through the Unix socket. A busy machine may accept a connection late.
  package func settings(_ name: String = "postgres") -> PostgresSettings {
    PostgresSettings([
      "host": addresses.socket, "port": String(addresses.port), "user": addresses.user, "dbname": name,
      "connect_timeout": "60",
    ])
  }

  /// Options of a session over TCP with TLS and the password.
  package func tcpSettings(_ name: String = "postgres") -> PostgresSettings {
    settings(name).with("host", "localhost").with("password", addresses.password)
      .with("sslmode", "verify-full").with("sslrootcert", addresses.root)
  }

  /// Options of a session through PgBouncer.
  package func pooledSettings(_ name: String = "postgres") -> PostgresSettings {
    var settings = settings(name).with("host", "127.0.0.1").with("port", String(addresses.pooledPort))
    settings.isPooled = true
    return settings
  }

  /// Creates an empty database, in another encoding if one is given, or a copy of `template`, which must have no sessions.
  ///
  /// - Returns: its name.
  package func makeDatabase(template: String = "template0", encoding: String? = nil) throws -> String {
    let name = "test_" + UUID().uuidString.replacing("-", with: "").lowercased()
    let connection = try PostgresConnection<PostgresError>(settings())
    let options = encoding.map { " ENCODING '\($0)' LOCALE 'C'" } ?? ""
    try connection.execute("CREATE DATABASE \(name) TEMPLATE \(template)\(options)")
    return name
  }

  /// Removes a database and ends its sessions.
  package func removeDatabase(_ name: String) throws {
    try PostgresConnection<PostgresError>(settings()).execute("DROP DATABASE \(name) WITH (FORCE)")
  }

  /// Shuts the server down; open sessions end.
  package func stop() throws { try order("stop") }
  /// Ends the server without a checkpoint, as a loss of power does.
  package func crash() throws { try order("crash") }
  /// Starts the server again, at the same addresses.
  package func start() throws { try order("start") }

  private func order(_ command: String) throws {
    try running.withLock { running in
      try running.input.write(contentsOf: Data("\(command)\n".utf8))
      guard Self.readLine(running.output) == Data("done".utf8) else {
        throw Failure(text: "tools/postgres-server failed at '\(command)'")
      }
    }
  }

  /// Returns the next line; `nil` at the end.
  private static func readLine(_ output: FileHandle) -> Data? {
    var line = Data()
    while let byte = try? output.read(upToCount: 1), !byte.isEmpty {
      if byte == Data("\n".utf8) { return line }
      line += byte
    }
    return nil
  }

  private struct Failure: Error {
    let text: String
  }
}
