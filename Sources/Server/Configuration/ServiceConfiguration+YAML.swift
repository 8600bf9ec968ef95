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
  package init(yaml: String, file: String) throws(ConfigurationError) {
    let root = try Self.root(yaml: yaml, file: file)
    let members = try root.members([
      "apps", "backup", "callers", "erasures", "limits", "listeners", "log", "public_url", "retention",
      "store", "token_issuer", "tokens", "traces", "trusted_roots",
    ])
    var apps: [AppConfiguration] = []
    for (id, node) in try members.required("apps").entries() {
      apps.append(try AppConfiguration(id: id, node))
    }
    guard !apps.isEmpty else { throw root.error("apps is empty") }
    self.apps = apps.sorted { $0.definition.id < $1.definition.id }

    var roots: [TrustedRoot] = []
    for node in try members["trusted_roots"]?.list() ?? [] { roots.append(try TrustedRoot(node)) }
    self.roots = roots
    tokens = try members["tokens"].map(TokenConfiguration.init)
    if tokens == nil, let app = apps.first(where: { $0.definition.deviceSync != nil }) {
      throw root.error("device_sync of app \(app.definition.id) needs the section tokens")
    }
    log = try members["log"].map(LogConfiguration.init) ?? .standard
    retention = try RetainedEvidence.days(members["retention"])
    auditRetentionDays = try RetainedEvidence.auditDays(members["retention"])
    retentionRequestDays = try RetainedEvidence.requestDays(members["retention"])
    tokenIssuer = try members["token_issuer"].map(TokenIssuerConfiguration.init)
    publicURL = try members["public_url"].map(PublicURL.init)
    backup = try members["backup"].map(BackupConfiguration.init)
    traces = try members["traces"].map(TraceConfiguration.init)
    store = try members["store"].map(StoreConfiguration.init) ?? .standard
    listeners = try ListenersConfiguration(listeners: members["listeners"], limits: members["limits"])
    callers = try CallerConfiguration(
      members["callers"], knownApps: self.apps.map(\.definition.id),
      hasIssuer: tokenIssuer != nil || listeners.console.identity != nil)
    erasures = try ErasureConfiguration(members["erasures"])
    document = root.document
  }
}

extension ServiceConfiguration {
  /// Returns the root node of a file.
  static func root(
    yaml: String, file: String, name: String = "the configuration"
  ) throws(ConfigurationError) -> ConfigurationNode {
    ConfigurationNode(file: file, name: name, node: try parse(yaml, file))
  }
}

extension TrustedRoot {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["environment", "certificate"])
    environment = try Environment(members.required("environment"))
    path = try members.required("certificate").path()
  }
}

/// Parses one YAML document.
private func parse(_ yaml: String, _ file: String) throws(ConfigurationError) -> Node {
  do {
    guard let node = try compose(yaml: yaml) else {
      throw ConfigurationError.invalid(file: file, line: nil, problem: "the configuration is empty")
    }
    return node
  } catch let error as ConfigurationError {
    throw error
  } catch {
    throw .invalid(file: file, line: error.line, problem: error.problem)
  }
}

extension Error {
  fileprivate var line: Int? {
    switch self as? YamlError {
    case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
    case .duplicatedKeysInMapping(_, let context): context.mark.line
    default: nil
    }
  }

  fileprivate var problem: String {
    switch self as? YamlError {
    case .scanner(_, let problem, _, _), .parser(_, let problem, _, _), .composer(_, let problem, _, _):
      problem
    case .duplicatedKeysInMapping(let keys, _):
      "duplicate keys: \(keys.joined(separator: ", "))"
    default: "\(self)"
    }
  }
}

extension ServiceConfiguration {
  /// Returns the first error of a file, and the first one of each app and caller, in the order of their lines. Empty
  /// if the file is valid.
  package static func problems(inFile path: String) -> [ConfigurationError] {
    do throws(ConfigurationError) {
      return problems(yaml: try ConfigurationFile.text(path), file: path)
    } catch {
      return [error]
    }
  }

  /// Returns the errors of a configuration that was read from `file`.
  package static func problems(yaml: String, file: String) -> [ConfigurationError] {
    do throws(ConfigurationError) {
      _ = try ServiceConfiguration(yaml: yaml, file: file)
      return []
    } catch {
      let others = (try? root(yaml: yaml, file: file)).map(problemsOfEntries) ?? []
      return (others.contains(error) ? others : others + [error]).sorted { $0.line ?? 0 < $1.line ?? 0 }
    }
  }

  /// Parses each app and caller separately and returns their errors.
  private static func problemsOfEntries(_ root: ConfigurationNode) -> [ConfigurationError] {
    guard let sections = try? root.entries() else { return [] }
    var problems: [ConfigurationError] = []
    let apps = (try? sections.first { $0.key == "apps" }?.value.entries()) ?? []
    for (id, node) in apps {
      do throws(ConfigurationError) { _ = try AppConfiguration(id: id, node) } catch {
        problems.append(error)
      }
    }
    let callers = (try? sections.first { $0.key == "callers" }?.value.entries()) ?? []
    for (name, node) in callers {
      do throws(ConfigurationError) {
        _ = try CallerConfiguration.definition(
          name, node, knownApps: apps.map(\.key),
          hasIssuer: sections.contains { ["token_issuer", "listeners"].contains($0.key) })
      } catch {
        problems.append(error)
      }
    }
    return problems
  }
}

extension ConfigurationError {
  /// The line of the error, if it has one.
  fileprivate var line: Int? {
    if case .invalid(_, let line, _) = self { line } else { nil }
  }
}
