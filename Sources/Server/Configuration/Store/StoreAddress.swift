internal import Foundation

extension StoreConfiguration {
  /// Parses the value of `--store` (`ENTITLED_STORE`): `sqlite:DIRECTORY`, or
  /// `postgres://USER@HOST:PORT,HOST:PORT/DATABASE?sslmode=…` with the names of libpq
  /// (https://www.postgresql.org/docs/15/libpq-connect.html#id-1.7.3.8.3.6). `option` names it in errors.
  package init(address: String, option: String) throws(ConfigurationError) {
    if address.hasPrefix("sqlite:") {
      let path = address.dropFirst("sqlite:".count)
      guard !path.isEmpty else { throw Self.error(option, "no directory after 'sqlite:'") }
      self = .sqlite(path: String(path))
      return
    }
    guard let scheme = ["postgres://", "postgresql://"].first(where: address.hasPrefix) else {
      throw Self.error(option, "neither sqlite:DIRECTORY nor postgres://USER@HOST:PORT/DATABASE")
    }
    do throws(PostgresDraft.Problem) {
      self = .postgres(
        try PostgresDraft(address: address.dropFirst(scheme.count)).configuration(PostgresDraft.addressNames))
    } catch {
      throw Self.error(option, error.text)
    }
  }

  private static func error(_ option: String, _ problem: String) -> ConfigurationError {
    .invalid(file: option, line: nil, problem: problem)
  }
}

extension PostgresDraft {
  fileprivate static let addressNames = Names(
    hosts: "hosts", root: "sslrootcert", certificate: "sslcert", key: "sslkey", tlsMode: "sslmode")

  /// The parameters of an address.
  private enum Parameter: String, CaseIterable {
    case host, service, sslmode, sslrootcert, sslcert, sslkey, passwordFile = "password_file", pooling
    case connectTimeout = "connect_timeout"
    case answerTimeout = "answer_timeout"
    case maxStaleness = "max_staleness"
    case serveStaleFor = "serve_stale_for"
    case readyWhileStale = "ready_while_stale"
  }

  /// Parses what follows the scheme.
  fileprivate init(address: Substring) throws(Problem) {
    let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    var authority = path[0]
    if let at = authority.lastIndex(of: "@") {
      let user = authority[..<at]
      // A command line and the environment of a process can be read by others.
      guard !user.contains(":") else {
        throw Problem(text: "must not contain a password; name its password_file")
      }
      self.user = try Self.decoded(user)
      authority = authority[authority.index(after: at)...]
    }
    if !authority.isEmpty {
      hosts = []
      for host in authority.split(separator: ",", omittingEmptySubsequences: false) {
        hosts?.append(try Self.decoded(host))
      }
    }
    if path.count > 1, !path[1].isEmpty { database = try Self.decoded(path[1]) }
    guard parts.count > 1 else { return }
    for pair in parts[1].split(separator: "&", omittingEmptySubsequences: false) { try set(pair) }
  }

  private mutating func set(_ pair: Substring) throws(Problem) {
    let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let parameter = Parameter(rawValue: String(parts[0])) else {
      let known = Parameter.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem(text: "unknown parameter '\(parts[0])'; known: \(known)")
    }
    let value = try Self.decoded(parts.count > 1 ? parts[1] : "")
    guard !value.isEmpty else { throw Problem(text: "\(parameter.rawValue) is empty") }
    switch parameter {
    // libpq's form of a Unix socket, postgres:///database?host=/run/postgresql.
    case .host:
      guard hosts == nil else { throw Problem(text: "host is given twice") }
      hosts = value.split(separator: ",").map(String.init)
    case .service: service = value
    case .sslmode: tlsMode = try Self.choice(value, of: parameter)
    case .sslrootcert: rootFile = value
    case .sslcert: certificate = value
    case .sslkey: key = value
    case .passwordFile: passwordFile = value
    case .pooling:
      let pooling: Pooling = try Self.choice(value, of: parameter)
      isPooled = pooling == .transaction
    case .answerTimeout: answerTimeout = value
    case .maxStaleness: maxStaleness = value
    case .serveStaleFor: serveStaleFor = value
    case .readyWhileStale: isReadyWhileStale = value
    case .connectTimeout:
      let range = PostgresConfiguration.connectTimeouts
      guard let seconds = Int64(value), range.contains(seconds) else {
        throw Problem(text: "connect_timeout is not between \(range.lowerBound) and \(range.upperBound)")
      }
      connectTimeoutSeconds = seconds
    }
  }

  private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ text: String, of parameter: Parameter
  ) throws(Problem) -> Choice {
    guard let choice = Choice(rawValue: text) else {
      let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem(text: "\(parameter.rawValue) is not one of \(known)")
    }
    return choice
  }

  private static func decoded(_ text: Substring) throws(Problem) -> String {
    guard let decoded = text.removingPercentEncoding else {
      throw Problem(text: "'\(text)' is not valid percent-encoding")
    }
    return decoded
  }
}
