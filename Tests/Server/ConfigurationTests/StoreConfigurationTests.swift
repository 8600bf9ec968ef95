import Configuration
import Testing

@Suite struct StoreConfigurationTests {
  private let apps = """
    apps:
      a:
        bundle_id: com.example.a
        apple_id: 1
        environments: [Sandbox]
        products:
          p: {type: Non-Consumable, entitlements: [pro]}

    """

  private func store(_ yaml: String) throws -> StoreConfiguration {
    try ServiceConfiguration(yaml: apps + yaml, file: "/etc/entitled/entitled.yaml").store
  }

  private func postgres(_ members: String) throws -> PostgresConfiguration {
    try database(try store("store: {postgres: {\(members)}}"))
  }

  private func postgres(address: String) throws -> PostgresConfiguration {
    try database(try StoreConfiguration(address: address, option: "--store"))
  }

  private func database(_ store: StoreConfiguration) throws -> PostgresConfiguration {
    guard case .postgres(let database) = store else { throw NotPostgres() }
    return database
  }

  private struct NotPostgres: Error {}

  private func problem(_ body: () throws -> Void) -> String {
    do {
      try body()
      return ""
    } catch { return "\(error)" }
  }

  @Test("Without configuration the store is SQLite in the data directory; a path is relative to the file")
  func sqlite() throws {
    #expect(try store("") == .standard)
    #expect(try store("store: {sqlite: {}}") == .standard)
    #expect(try store("store: {sqlite: {path: db}}") == .sqlite(path: "/etc/entitled/db"))
    #expect(try StoreConfiguration(address: "sqlite:/var/db", option: "--store") == .sqlite(path: "/var/db"))
  }

  @Test("A database on several hosts is reached with verified TLS, at the host that accepts writes")
  func hosts() throws {
    let database = try postgres(
      "hosts: [db1, 'db2:5433', '[::1]:7'], database: entitled, user: me, password_file: pw")
    #expect(database.passwordFile == "/etc/entitled/pw" && !database.isPooled)
    #expect(
      database.connectionOptions == [
        "host": "db1,db2,::1", "port": "5432,5433,7", "dbname": "entitled", "user": "me",
        "sslmode": "verify-full",
        "sslrootcert": "/etc/ssl/certs/ca-certificates.crt", "target_session_attrs": "read-write",
        "connect_timeout": "2",
      ])
  }

  @Test("A Unix socket needs no TLS, and a service names everything else itself")
  func local() throws {
    let socket = try postgres("hosts: [/run/postgresql], database: entitled, user: me, pooling: transaction")
    #expect(socket.isPooled && socket.connectionOptions["sslmode"] == "disable")
    #expect(
      socket.connectionOptions["host"] == "/run/postgresql" && socket.connectionOptions["sslrootcert"] == nil)
    let service = try postgres("service: entitled, connect_timeout_seconds: 10")
    #expect(
      service.connectionOptions == [
        "service": "entitled", "target_session_attrs": "read-write", "connect_timeout": "10",
      ])
  }

  @Test("An address names the same as the file")
  func addresses() throws {
    let options =
      "sslmode=verify-ca&sslrootcert=%2Fca.pem&sslcert=/c.pem&sslkey=/k.pem&password_file=/pw"
      + "&pooling=transaction&connect_timeout=5"
    let tls = "tls: {mode: verify-ca, root: /ca.pem, certificate: /c.pem, key: /k.pem}"
    #expect(
      try postgres(address: "postgres://m%65@db1,db2:5433/entitled?\(options)")
        == postgres(
          "hosts: [db1, 'db2:5433'], database: entitled, user: me, password_file: /pw, \(tls), "
            + "pooling: transaction, connect_timeout_seconds: 5"))
    #expect(
      try postgres(address: "postgresql://me@/entitled?host=/run/postgresql:5433")
        == postgres("hosts: ['/run/postgresql:5433'], database: entitled, user: me"))
    #expect(try postgres(address: "postgres://?service=entitled") == postgres("service: entitled"))
  }

  @Test("Answers from memory serve for an hour by default, and as long as configured")
  func staleness() throws {
    let standard = try postgres("service: entitled").staleness
    #expect(standard.maxStalenessSeconds == 5 && standard.serveStaleForSeconds == 3_600)
    #expect(standard.isReadyWhileStale && standard.answerTimeoutSeconds == 1)
    let members =
      "service: entitled, answer_timeout: PT4S, max_staleness: PT1M, serve_stale_for: 0, ready_while_stale: false"
    let other = try postgres(members)
    #expect(other.staleness.answerTimeoutSeconds == 4)
    #expect(other.staleness.maxStalenessSeconds == 60 && other.staleness.serveStaleForSeconds == 0)
    #expect(!other.staleness.isReadyWhileStale)
    let address =
      "postgres://?service=entitled&answer_timeout=PT4S&max_staleness=PT1M&serve_stale_for=PT0S"
      + "&ready_while_stale=false"
    #expect(try postgres(address: address) == other)
  }

  @Test(
    "An invalid section is rejected with the name of the key",
    arguments: [
      ("store: {}", "store of the configuration has not exactly one of sqlite, postgres"),
      ("store: {sqlite: {}, postgres: {service: x}}", "has not exactly one of sqlite, postgres"),
      ("store: {mysql: {}}", "unknown key 'mysql'; known: sqlite, postgres"),
      ("store: {postgres: {password: x}}", "unknown key 'password'; known: hosts, service"),
      ("store: {postgres: {database: d, user: u}}", "has not exactly one of hosts, service"),
      ("store: {postgres: {hosts: [a], service: s}}", "has not exactly one of hosts, service"),
      ("store: {postgres: {hosts: [], database: d, user: u}}", "hosts is empty"),
      ("store: {postgres: {hosts: [a], user: u}}", "postgres of store of the configuration: no database"),
      ("store: {postgres: {hosts: [a], database: d}}", "no user"),
      ("store: {postgres: {hosts: ['a:0'], database: d, user: u}}", "'a:0' is not HOST, HOST:PORT"),
      ("store: {postgres: {hosts: ['a,b'], database: d, user: u}}", "'a,b' is not HOST"),
      ("store: {postgres: {hosts: ['::1'], database: d, user: u}}", "'::1' is not HOST"),
      (
        "store: {postgres: {service: s, tls: {mode: prefer}}}",
        "is not one of disable, require, verify-ca, verify-full"
      ),
      (
        "store: {postgres: {service: s, tls: {mode: require, root: r}}}",
        "root needs mode verify-ca or verify-full"
      ),
      ("store: {postgres: {service: s, tls: {certificate: c}}}", "certificate and key are needed together"),
      (
        "store: {postgres: {service: s, tls: {mode: disable, certificate: c, key: k}}}",
        "certificate needs TLS, which mode disable turns off"
      ),
      (
        "store: {postgres: {hosts: [/run], database: d, user: u, tls: {mode: require}}}",
        "mode has no effect on a Unix socket"
      ),
      ("store: {postgres: {service: s, pooling: session}}", "is not one of none, transaction"),
      ("store: {postgres: {service: s, connect_timeout_seconds: 1}}", "is not between 2 and 60"),
      ("store: {postgres: {service: s, max_staleness: 0}}", "max_staleness is not a duration from PT1S"),
      (
        "store: {postgres: {service: s, answer_timeout: PT2M}}",
        "answer_timeout is not a duration from PT1S to PT1M"
      ),
      ("store: {postgres: {service: s, serve_stale_for: 1h}}", "serve_stale_for is not a duration from PT0S"),
      ("store: {postgres: {service: s, ready_while_stale: maybe}}", "is neither true nor false"),
    ])
  func invalid(yaml: String, expected: String) {
    let problem = problem { _ = try store(yaml) }
    #expect(problem.contains(expected) && problem.hasPrefix("/etc/entitled/entitled.yaml:"), "\(problem)")
  }

  @Test(
    "An invalid address is rejected with the name of the option, and a password in it is not repeated",
    arguments: [
      ("/var/db", "neither sqlite:DIRECTORY nor postgres://"), ("sqlite:", "no directory"),
      ("postgres://u:hidden@h/d", "must not contain a password; name its password_file"),
      ("postgres://h/d", "no user"), ("postgres://u@h", "no database"),
      ("postgres://u@h,/d", "'' is not HOST"),
      ("postgres://u@h/d?password=hidden", "unknown parameter 'password'; known: host, service"),
      ("postgres://u@h/d?sslmode=prefer", "sslmode is not one of disable"),
      ("postgres://u@h/d?sslmode=", "sslmode is empty"), ("postgres://u@h/d?host=x", "host is given twice"),
      ("postgres://u@h/d%2", "is not valid percent-encoding"),
      ("postgres://u@h/d?connect_timeout=0", "connect_timeout is not between 2 and 60"),
    ])
  func invalidAddress(address: String, expected: String) {
    let problem = problem { _ = try StoreConfiguration(address: address, option: "--store") }
    #expect(problem.contains(expected) && problem.hasPrefix("--store: "), "\(problem)")
    #expect(!problem.contains("hidden"))
  }
}
