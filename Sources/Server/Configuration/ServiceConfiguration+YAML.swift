internal import AppStore
internal import Entitlements
internal import Yams

extension ServiceConfiguration {
  /// Reads a file; without a path, the demo configuration.
  ///
  /// - Throws: ``ConfigurationError`` with the file and line of the first error.
  package static func load(path: String?) throws(ConfigurationError) -> ServiceConfiguration {
    guard let path else {
      return try ServiceConfiguration(yaml: demoConfiguration, file: "the demo configuration")
    }
    return try ServiceConfiguration(yaml: try ConfigurationFile.text(path), file: path)
  }

  /// Parses a configuration that was read from `file`. Errors contain the path, and relative paths are resolved against
  /// its directory.
  ///
  /// - Throws: ``ConfigurationError`` for the first problem; an unknown key is one.
  package init(yaml: String, file: String) throws(ConfigurationError) {
    try self.init(ConfigurationFile.root(yaml: yaml, file: file))
  }

  /// Parses the root node of a file. `apps` is required and not empty; all other sections have defaults. `tokens` is
  /// required if an app has `device_sync`, which responds with tokens.
  init(_ root: ConfigurationNode) throws(ConfigurationError) {
    let members = try root.members([
      "apps", "backup", "callers", "erasures", "limits", "listeners", "log", "public_url", "retention",
      "store", "token_issuer", "tokens", "traces", "trusted_roots",
    ])
    let entries = try members.part(members.required("apps").entries())
    var apps: [AppConfiguration] = []
    for (id, node) in entries ?? [] {
      if let app = try members.part(AppConfiguration(id: id, node)) { apps.append(app) }
    }
    if let entries, entries.isEmpty { try root.report("apps is empty") }
    self.apps = apps.sorted { $0.definition.id < $1.definition.id }

    roots = try members.part(members["trusted_roots"]?.values(TrustedRoot.init)) ?? []
    tokens = try members.part(members["tokens"].map(TokenConfiguration.init))
    if members["tokens"] == nil, let app = apps.first(where: { $0.definition.deviceSync != nil }) {
      try root.report("device_sync of app \(app.definition.id) needs the section tokens")
    }
    log = try members.part(members["log"].map(LogConfiguration.init)) ?? .standard
    retention = try members.part(RetainedEvidence.days(members["retention"])) ?? [:]
    auditRetentionDays = try members.part(RetainedEvidence.auditDays(members["retention"]))
    retentionRequestDays =
      try members.part(RetainedEvidence.requestDays(members["retention"]))
      ?? RetainedEvidence.standardRequestDays
    tokenIssuer = try members.part(members["token_issuer"].map(TokenIssuerConfiguration.init))
    publicURL = try members.part(members["public_url"].map(PublicURL.init))
    backup = try members.part(members["backup"].map(BackupConfiguration.init))
    traces = try members.part(members["traces"].map(TraceConfiguration.init))
    store = try members.part(members["store"].map(StoreConfiguration.init)) ?? .standard
    listeners =
      try members.part(
        ListenersConfiguration(listeners: members["listeners"], limits: members["limits"])) ?? .standard
    let hasIdentity = members["listeners"]?.node["console"]?["identity"] != nil
    callers =
      try members.part(
        CallerConfiguration(
          members["callers"], knownApps: (entries ?? []).map(\.key).sorted(),
          hasIssuer: members["token_issuer"] != nil || hasIdentity)) ?? .unspecified
    let erasures = try members.part(ErasureConfiguration(members["erasures"]))
    self.erasures = if let erasures { erasures } else { try ErasureConfiguration(nil) }
    document = root.document
  }
}

extension TrustedRoot {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["environment", "certificate"])
    try members.require("environment", "certificate")
    environment = try Environment(members.required("environment"))
    path = try members.required("certificate").path()
  }
}
