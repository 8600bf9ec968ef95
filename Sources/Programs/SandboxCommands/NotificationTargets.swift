internal import Foundation
internal import Transport

/// The hosts to which the sandbox sends requests: this machine, and those that the operator allows.
///
/// Every client of the sandbox can set the URL of notifications, so without a limit it could call any server that this
/// machine reaches.
struct NotificationTargets: Sendable {
  private let hosts: Set<String>

  /// - Parameter allowedHosts: names or addresses, with a port or for every port.
  init(allowedHosts: [String]) { hosts = Set(allowedHosts.map { $0.lowercased() }) }

  /// Whether requests to `url` are allowed. Its host is parsed by the type that the HTTP client uses.
  func permits(_ url: URL) -> Bool {
    guard let scheme = url.scheme?.lowercased(), let defaultPort = ["http": 80, "https": 443][scheme],
      var host = url.host?.lowercased(), !host.isEmpty
    else { return false }
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    let port = url.port ?? defaultPort
    return HostAndPort(host: host, port: port).isLoopback || hosts.contains(host)
      || hosts.contains("\(host):\(port)")
  }
}
