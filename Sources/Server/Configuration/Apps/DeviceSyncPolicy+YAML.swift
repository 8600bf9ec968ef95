internal import Entitlements

extension DeviceSyncPolicy {
  private static let defaultInstallations: Int64 = 10

  /// Parses `device_sync` of an app.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["max_installations", "over_limit"])
    let count = try members["max_installations"]?.number() ?? Self.defaultInstallations
    guard (1...1_000).contains(count) else {
      throw node.error("max_installations is not between 1 and 1000")
    }
    var excess = Excess.refuse
    if let node = members["over_limit"] {
      let text = try node.text()
      guard let known = Excess(rawValue: text) else {
        let names = Excess.allCases.map(\.rawValue).joined(separator: ", ")
        throw node.error("unknown value '\(text)' of over_limit; known: \(names)")
      }
      excess = known
    }
    self.init(maxInstallations: Int(count), excess: excess)
  }
}
