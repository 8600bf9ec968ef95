extension StoreConfiguration {
  /// Parses `{sqlite: {path: DIRECTORY}}` or `{postgres: …}`; both together and neither are errors.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["sqlite", "postgres"])
    switch (members["sqlite"], members["postgres"]) {
    case (let sqlite?, nil):
      self = .sqlite(path: try sqlite.members(["path"])["path"]?.path())
    case (nil, let postgres?): self = .postgres(try PostgresConfiguration(postgres))
    default: throw node.error("\(node.name) has not exactly one of sqlite, postgres")
    }
  }
}

extension PostgresConfiguration {
  private static let names = PostgresDraft.Names(
    hosts: "hosts", root: "root", certificate: "certificate", key: "key", tlsMode: "mode")

  /// Parses `postgres`: its settings have the names of the service, and TLS has a separate section.
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members([
      "hosts", "service", "database", "user", "password_file", "tls", "pooling", "connect_timeout_seconds",
      "answer_timeout", "max_staleness", "serve_stale_for", "ready_while_stale",
    ])
    var draft = PostgresDraft()
    draft.hosts = try members["hosts"]?.texts()
    draft.service = try members["service"]?.text()
    draft.database = try members["database"]?.text()
    draft.user = try members["user"]?.text()
    draft.passwordFile = try members["password_file"]?.path()
    if let tls = try members["tls"]?.members(["mode", "root", "certificate", "key"]) {
      draft.tlsMode = try tls["mode"]?.choice()
      draft.rootFile = try tls["root"]?.path()
      draft.certificate = try tls["certificate"]?.path()
      draft.key = try tls["key"]?.path()
    }
    if let pooling = members["pooling"] {
      let value: PostgresDraft.Pooling = try pooling.choice()
      draft.isPooled = value == .transaction
    }
    draft.connectTimeoutSeconds = try members["connect_timeout_seconds"]?.number(in: Self.connectTimeouts)
    draft.answerTimeout = try members["answer_timeout"]?.text()
    draft.maxStaleness = try members["max_staleness"]?.text()
    draft.serveStaleFor = try members["serve_stale_for"]?.text()
    draft.isReadyWhileStale = try members["ready_while_stale"]?.text()
    do throws(PostgresDraft.Problem) {
      self = try draft.configuration(Self.names)
    } catch {
      throw node.error("\(node.name): \(error.text)")
    }
  }
}
