internal import AppStore
internal import Entitlements
internal import Foundation
internal import Yams

extension ServiceConfiguration {
  /// Reads the operator's file, or the demonstration if there is none.
  ///
  /// - Throws: ``ConfigurationError``, with the file and line of the first thing that is wrong.
  package static func load(path: String?) throws(ConfigurationError) -> ServiceConfiguration {
    guard let path else {
      return try ServiceConfiguration(yaml: demoConfiguration, file: "the demo configuration")
    }
    let yaml: String
    do { yaml = try String(contentsOfFile: path, encoding: .utf8) } catch {
      throw .unreadable(file: path, reason: error.localizedDescription)
    }
    return try ServiceConfiguration(yaml: yaml, file: path)
  }

  /// Reads a configuration that came from `file`, which errors name and relative paths are relative to.
  package init(yaml: String, file: String) throws(ConfigurationError) {
    let root = try Self.root(yaml: yaml, file: file)
    let members = try root.members([
      "apps", "callers", "limits", "listeners", "log", "retention", "token_issuer", "tokens", "trusted_roots",
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
    log = try members["log"].map(LogConfiguration.init) ?? .usual
    retention = try RetainedEvidence.days(members["retention"])
    tokenIssuer = try members["token_issuer"].map(TokenIssuerConfiguration.init)
    callers = try CallerConfiguration(
      members["callers"], knownApps: self.apps.map(\.definition.id), hasIssuer: tokenIssuer != nil)
    listeners = try ListenersConfiguration(listeners: members["listeners"], limits: members["limits"])
  }
}

extension ServiceConfiguration {
  /// The top of a file.
  static func root(yaml: String, file: String) throws(ConfigurationError) -> ConfigurationNode {
    ConfigurationNode(file: file, name: "the configuration", node: try parse(yaml, file))
  }
}

extension TrustedRoot {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["environment", "certificate"])
    environment = try Environment(members.required("environment"))
    path = try members.required("certificate").path()
  }
}

/// The tree of one YAML document.
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
      "these names are there more than once: \(keys.joined(separator: ", "))"
    default: "\(self)"
    }
  }
}
