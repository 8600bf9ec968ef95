/// The settings of a PostgreSQL database as they are written, in the file or in an address, before they are checked
/// together.
///
/// Each member is `nil` if the setting is missing. Both forms have the same rules, so the file (`store.postgres`) and
/// the address (`--store`) fill in a draft, and only ``configuration(_:)`` judges it.
struct PostgresDraft {
  var hosts: [String]?
  var service: String?
  var database: String?
  var user: String?
  var passwordFile: String?
  var tlsMode: PostgresConfiguration.TLSMode?
  var rootFile: String?
  var certificate: String?
  var key: String?
  var isPooled = false
  /// Within ``PostgresConfiguration/connectTimeouts``, as both forms have checked.
  var connectTimeoutSeconds: Int64?
  /// `answer_timeout`, as an ISO 8601 duration of 1 second to 1 minute, as the following ones.
  var answerTimeout: String?
  /// `max_staleness`: 1 second to 1 day.
  var maxStaleness: String?
  /// `serve_stale_for`: 0 to 7 days.
  var serveStaleFor: String?
  /// `ready_while_stale`: the text `true` or `false`.
  var isReadyWhileStale: String?

  /// The values of `pooling`.
  enum Pooling: String, CaseIterable {
    /// The service connects to the server itself.
    case none
    /// PgBouncer in transaction mode is between.
    case transaction
  }

  /// The names of settings in messages, which differ between the file and an address, such as `certificate` and
  /// `sslcert`.
  struct Names {
    let hosts: String
    let root: String
    let certificate: String
    let key: String
    let tlsMode: String
  }

  /// A problem of several settings, for people.
  struct Problem: Error {
    /// The problem, without its place in the file, which the caller adds.
    let text: String
  }

  /// Checks the settings and fills in the defaults: TLS is verified in full unless all hosts are Unix sockets.
  ///
  /// - Throws: ``Problem`` without exactly one of hosts and service, without a database or user for hosts, for a
  ///   malformed host or duration, and for TLS settings that contradict each other.
  func configuration(_ names: Names) throws(Problem) -> PostgresConfiguration {
    let servers = try servers(names)
    let needsTLS = try needsTLS(servers, names)
    return PostgresConfiguration(
      servers: servers, database: database, user: user, passwordFile: passwordFile,
      tlsMode: tlsMode ?? needsTLS.map { $0 ? .verifyFull : .disable },
      rootFile: try rootFile(isDefault: needsTLS == true, names),
      clientCertificate: try clientCertificate(names),
      isPooled: isPooled, connectTimeoutSeconds: connectTimeoutSeconds ?? 2, staleness: try staleness())
  }

  private func staleness() throws(Problem) -> PostgresConfiguration.Staleness {
    var staleness = PostgresConfiguration.Staleness()
    if let answerTimeout {
      staleness.answerTimeoutSeconds = try Self.seconds(answerTimeout, "answer_timeout", in: 1...60)
    }
    if let maxStaleness {
      // A shorter time would be one in which the database need not answer.
      staleness.maxStalenessSeconds = try Self.seconds(maxStaleness, "max_staleness", in: 1...86_400)
    }
    if let serveStaleFor {
      staleness.serveStaleForSeconds = try Self.seconds(serveStaleFor, "serve_stale_for", in: 0...604_800)
    }
    switch isReadyWhileStale {
    case nil, "true"?: break
    case "false"?: staleness.isReadyWhileStale = false
    default: throw Problem(text: "ready_while_stale is neither true nor false")
    }
    return staleness
  }

  private static func seconds(
    _ text: String, _ name: String, in range: ClosedRange<Int64>
  ) throws(Problem) -> Int64 {
    guard let seconds = text == "0" ? 0 : ConfigurationNode.seconds(text), range.contains(seconds) else {
      throw Problem(
        text: "\(name) is not a duration from PT\(range.lowerBound)S to \(Self.limit(range.upperBound))")
    }
    return seconds
  }

  private static func limit(_ seconds: Int64) -> String {
    seconds < 3_600 ? "PT\(seconds / 60)M" : "PT\(seconds / 3_600)H"
  }

  private func servers(_ names: Names) throws(Problem) -> PostgresConfiguration.Servers {
    switch (hosts, service) {
    case (nil, let service?): return .service(service)
    case (let texts?, nil):
      guard !texts.isEmpty else { throw Problem(text: "\(names.hosts) is empty") }
      guard database != nil else { throw Problem(text: "no database") }
      guard user != nil else { throw Problem(text: "no user") }
      var hosts: [PostgresConfiguration.Host] = []
      for text in texts {
        guard let host = PostgresConfiguration.Host(text) else {
          throw Problem(
            text: "'\(text)' is not HOST, HOST:PORT or the absolute path of a socket's folder")
        }
        hosts.append(host)
      }
      return .hosts(hosts)
    default: throw Problem(text: "has not exactly one of \(names.hosts), service")
    }
  }

  /// Whether a connection leaves this machine; `nil` if the service file decides.
  private func needsTLS(_ servers: PostgresConfiguration.Servers, _ names: Names) throws(Problem) -> Bool? {
    guard case .hosts(let hosts) = servers else { return nil }
    let needsTLS = hosts.contains { !$0.isUnixSocket }
    guard needsTLS || tlsMode == nil || tlsMode == .disable else {
      throw Problem(text: "\(names.tlsMode) has no effect on a Unix socket")
    }
    return needsTLS
  }

  /// The trusted roots; by default Debian's public ones where the certificate is verified. A mode that verifies nothing
  /// must not name roots, because they would seem to protect.
  private func rootFile(isDefault: Bool, _ names: Names) throws(Problem) -> String? {
    switch tlsMode {
    case .disable?, .require?:
      guard rootFile == nil else {
        throw Problem(text: "\(names.root) needs \(names.tlsMode) verify-ca or verify-full")
      }
      return nil
    case .verifyCA?, .verifyFull?: return rootFile ?? PostgresConfiguration.publicRoots
    case nil: return rootFile ?? (isDefault ? PostgresConfiguration.publicRoots : nil)
    }
  }

  /// The certificate of the client and its key, which need each other and TLS.
  private func clientCertificate(_ names: Names) throws(Problem) -> TLSFiles? {
    switch (certificate, key) {
    case (nil, nil): return nil
    case (let certificate?, let key?):
      guard tlsMode != .disable else {
        throw Problem(text: "\(names.certificate) needs TLS, which \(names.tlsMode) disable turns off")
      }
      return TLSFiles(certificate: certificate, key: key, clientAuthorities: nil)
    default: throw Problem(text: "\(names.certificate) and \(names.key) are needed together")
    }
  }
}
