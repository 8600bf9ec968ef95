/// How the logs look and how much they say.
package struct LogConfiguration: Hashable, Sendable {
  package enum Format: String, Hashable, Sendable, CaseIterable {
    /// For people.
    case text
    /// For whatever collects logs: a JSON object a line.
    case json
  }

  /// The levels, as swift-log has them, the chattiest first.
  package enum Level: String, Hashable, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical
  }

  package let format: Format
  package let level: Level

  /// What counts where the file says nothing.
  package static let usual = LogConfiguration(format: .text, level: .info)
}

extension LogConfiguration {
  static let memberNames = ["format", "level"]

  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(Self.memberNames)
    format = try members["format"].map { node throws(ConfigurationError) in try node.choice() } ?? .text
    level = try members["level"].map { node throws(ConfigurationError) in try node.choice() } ?? .info
  }
}
