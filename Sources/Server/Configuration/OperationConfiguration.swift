/// The address under which Apple reaches the edge, `public_url`. The service does not use it; `entitled doctor` checks it.
package struct PublicURL: Hashable, Sendable {
  /// A host name, or an IP address without brackets.
  package let host: String
  /// 443 if the URL has none.
  package let port: Int
  /// The URL without a slash at its end.
  package let text: String

  /// Parses an `https` URL, which may have a port and a path, but no user, query or fragment.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let example = "https://entitled.example.com"
    let url = try node.url(such: example)
    guard url.isHTTPS, !url.hasQuery, !url.hasUser else {
      throw node.error("\(node.name) is not an https URL such as \(example)")
    }
    host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
    port = url.port ?? 443
    text = url.text.hasSuffix("/") ? String(url.text.dropLast()) : url.text
  }

  /// The URL of an app's notifications, for App Store Connect.
  package func notifications(of appID: String) -> String { "\(text)/notifications/\(appID)" }
}

/// The section `backup`. The service makes no backups itself; `entitled doctor` checks the age of the latest.
package struct BackupConfiguration: Hashable, Sendable {
  /// A backup, or a directory in which backups are.
  package let path: String
  /// The greatest age of the latest one.
  package let maxAgeHours: Int64

  /// Parses `path`, which is required, and `max_age_hours`: 1 to 8,760. The default of 26 suits a daily backup that
  /// takes up to two hours.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["path", "max_age_hours"])
    path = try members.required("path").path()
    maxAgeHours =
      try members["max_age_hours"].map { node throws(ConfigurationError) in try node.number(in: 1...8_760) }
      ?? 26
  }
}
