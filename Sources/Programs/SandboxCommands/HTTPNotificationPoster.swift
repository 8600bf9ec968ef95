internal import AppStore
internal import Curl
internal import Foundation
internal import Sandbox
internal import Transport

/// Posts the sandbox's notifications over HTTP/1.1, as Apple does, to allowed targets only. It follows up to five
/// redirects within one time limit.
struct HTTPNotificationPoster: NotificationPoster {
  private static let client = CurlClient(allowsHTTP2: false, connectionsPerHost: 8)
  /// Of one attempt, with its redirects.
  private static let timeout = Duration.seconds(10)
  /// In bytes.
  private static let responseLimit = 1 << 20
  private static let maxRedirects = 5

  let targets: NotificationTargets

  func permits(_ url: String) -> Bool { URL(string: url).map(targets.permits) ?? false }

  func exchange(_ body: [UInt8], with url: String) async -> ReceiverResponse {
    guard var target = URL(string: url) else { return ReceiverResponse(result: .other) }
    let end = ContinuousClock.now + Self.timeout
    var visited: Set<URL> = []
    do {
      // Each target of a redirect has to be allowed.
      while targets.permits(target) {
        guard visited.count <= Self.maxRedirects, visited.insert(target).inserted else {
          return ReceiverResponse(result: .circularRedirect)
        }
        let response = try await Self.client.send(Self.request(body, to: target, until: end))
        if let next = Self.redirect(response, from: target) {
          target = next
          continue
        }
        // Apple documents 200 to 206 as success.
        let isSuccess = (200...206).contains(response.status)
        return ReceiverResponse(
          result: isSuccess ? .success : .unsuccessfulHTTPResponseCode, status: response.status,
          body: response.body)
      }
      return ReceiverResponse(result: .other)
    } catch {
      return ReceiverResponse(result: SendAttemptResult(error))
    }
  }

  /// A POST that ends at `end`.
  private static func request(
    _ body: [UInt8], to url: URL, until end: ContinuousClock.Instant
  ) -> CurlRequest {
    CurlRequest(
      method: "POST", url: url.absoluteString,
      headers: [("content-type", "application/json"), ("user-agent", "entitled-sandbox")], body: body,
      timeout: ContinuousClock.now.duration(to: end), responseLimit: responseLimit)
  }

  /// The URL to post to instead (RFC 9110, section 15.4); `nil` if the response is no redirect.
  private static func redirect(_ response: CurlResponse, from url: URL) -> URL? {
    guard [301, 302, 307, 308].contains(response.status),
      let location = response.headers.first(where: { $0.name == "location" })?.value
    else { return nil }
    return URL(string: location, relativeTo: url)?.absoluteURL
  }
}

extension SendAttemptResult {
  /// The result as Apple's notification history names it.
  fileprivate init(_ error: CurlError) {
    switch error {
    case .timedOut: self = .timedOut
    case .tooLarge: self = .invalidResponse
    case .unreachable: self = .socketIssue
    case .tls: self = .tlsIssue
    case .closed: self = .prematureClose
    case .cancelled, .failed: self = .other
    }
  }
}

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
