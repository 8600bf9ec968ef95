/// The section `store`: where evidence and everything derived from it is stored.
package enum StoreConfiguration: Hashable, Sendable {
  /// One process with a database in a directory; `nil` for the data directory.
  case sqlite(path: String?)
  /// Replicas that share a PostgreSQL database.
  case postgres(PostgresConfiguration)

  /// The default.
  package static let standard = StoreConfiguration.sqlite(path: nil)
}

/// The settings of the connection to a PostgreSQL database.
package struct PostgresConfiguration: Hashable, Sendable {
  /// A database server. Among several, one is the primary.
  package struct Host: Hashable, Sendable {
    /// A host name or address, or the absolute path of the folder of a Unix socket.
    package let name: String
    /// 1 to 65,535; also that of a Unix socket, which is part of its name.
    package let port: Int

    /// Whether the connection stays on this machine and needs no TLS.
    package var isUnixSocket: Bool { name.hasPrefix("/") }
  }

  /// The values of `tls.mode`, as libpq names them. There is no mode that falls back to cleartext.
  package enum TLSMode: String, Hashable, Sendable, CaseIterable {
    /// Cleartext.
    case disable
    /// Encrypted, to any server.
    case require
    /// The server's certificate chains to a trusted root.
    case verifyCA = "verify-ca"
    /// And is issued for the host's name.
    case verifyFull = "verify-full"
  }

  /// The source of the servers' names.
  package enum Servers: Hashable, Sendable {
    /// The configured hosts, in the order in which libpq tries them; not empty.
    case hosts([Host])
    /// A service of libpq's service file, which can also name the database, the user and the TLS mode.
    case service(String)
  }

  /// The hosts, or the service that names them.
  package let servers: Servers
  /// `nil` only with a service.
  package let database: String?
  /// `nil` only with a service.
  package let user: String?
  /// The path of the password, read at each new connection so that it can be rotated; `nil`: libpq's own sources, such
  /// as `~/.pgpass`, or no password.
  package let passwordFile: String?
  /// `nil` leaves TLS to the service file.
  package let tlsMode: TLSMode?
  /// The file of trusted roots, PEM.
  package let rootFile: String?
  /// The client's certificate and its private key, PEM.
  package let clientCertificate: TLSFiles?
  /// Whether PgBouncer in transaction mode is between.
  package let isPooled: Bool
  /// The longest time to connect to one address of one host: 2 to 60 seconds, by default 2.
  package let connectTimeoutSeconds: Int64
  /// The limits of answers from memory while the database is away.
  package let staleness: Staleness

  /// The limits of answers from memory while the database is away.
  package struct Staleness: Hashable, Sendable {
    /// The silence of the database after which it is away: writes that wait for it fail.
    package var answerTimeoutSeconds: Int64 = 1
    /// The silence of the database after which answers are marked as stale.
    package var maxStalenessSeconds: Int64 = 5
    /// The silence after which calls are no longer answered from memory.
    package var serveStaleForSeconds: Int64 = 3_600
    /// Whether the service is ready while its answers are stale.
    package var isReadyWhileStale = true
  }

  /// The port of PostgreSQL.
  static let defaultPort = 5432
  /// Debian's bundle of public roots, with which a server's certificate is verified by default.
  static let publicRoots = "/etc/ssl/certs/ca-certificates.crt"
  /// libpq takes 1 as 2.
  static let connectTimeouts: ClosedRange<Int64> = 2...60

  /// The options of libpq for a session, without the password. `target_session_attrs` finds the primary among several
  /// hosts.
  package var connectionOptions: [String: String] {
    var options = ["connect_timeout": "\(connectTimeoutSeconds)", "target_session_attrs": "read-write"]
    switch servers {
    case .hosts(let hosts):
      options["host"] = hosts.map(\.name).joined(separator: ",")
      options["port"] = hosts.map { "\($0.port)" }.joined(separator: ",")
    case .service(let name): options["service"] = name
    }
    options["dbname"] = database
    options["user"] = user
    options["sslmode"] = tlsMode?.rawValue
    options["sslrootcert"] = rootFile
    options["sslcert"] = clientCertificate?.certificate
    options["sslkey"] = clientCertificate?.key
    return options
  }
}

extension PostgresConfiguration.Host {
  /// Parses `NAME`, `NAME:PORT` or `[IPV6]:PORT`; a name can be the folder of a Unix socket. `nil` if `text` is none of
  /// them.
  init?(_ text: String, defaultPort: Int = PostgresConfiguration.defaultPort) {
    var (name, port) = (text[...], defaultPort)
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      name = text[text.index(after: text.startIndex)..<end]
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
      if !rest.isEmpty {
        guard let number = Int(rest.dropFirst()) else { return nil }
        port = number
      }
    } else if let colon = text.lastIndex(of: ":") {
      guard let number = Int(text[text.index(after: colon)...]) else { return nil }
      (name, port) = (text[..<colon], number)
      guard !name.contains(":") else { return nil }
    }
    // libpq separates hosts by commas, and reads a name as given otherwise.
    guard !name.isEmpty, (1...65_535).contains(port), !name.contains(where: { ", \t\n@?".contains($0) })
    else {
      return nil
    }
    self.init(name: String(name), port: port)
  }
}
