/// Refuses requests that a web page can make the browser of an operator send.
///
/// A page may send simple requests to any address without asking the server (Fetch standard, "CORS-safelisted"), and
/// reaches an address under its own name by changing that name's DNS record (DNS rebinding). So a request must
/// name this server as its host, and one that changes something must not come from another origin or have a content
/// type that needs no preflight.
package struct OriginPolicy: Hashable, Sendable {
  /// The names whose pages belong to the server, whatever their port. Those of this machine are not among them.
  private let allowedHosts: Set<String>
  /// The names that other programs of this machine have too, with other ports.
  private let ownHosts: Set<String>

  /// - Parameters:
  ///   - allowedHosts: the host names of the server besides `localhost`, without port. IP addresses are always hosts of
  ///     the server, because a page cannot rebind them.
  ///   - address: the host of the listener's address, which need not be configured.
  package init(allowedHosts: [String], address: String? = nil) {
    self.allowedHosts = Set(allowedHosts.map { $0.lowercased() }).subtracting(Self.thisMachine)
    ownHosts = Self.thisMachine.union([address?.lowercased()].compactMap(\.self))
  }

  /// The response to a request for a host that is not this server; `nil` if it is.
  package func refusalOfHost(_ request: HTTPRequest) -> HTTPResponse? {
    let host = request.header("host") ?? ""
    if let authority = Authority(host), isAllowed(authority.host) { return nil }
    return .text(421, "unknown host '\(host.prefix(200))'; set allowed_hosts of the listener\n")
  }

  /// The response to a request of another origin, or to a POST with a content type that needs no preflight; `nil` for
  /// other requests. Reads are allowed, because a page cannot read a response of another origin.
  /// `allowsAnyContentType` is for paths whose clients send no content type, or that of a form.
  package func refusalOfOrigin(_ request: HTTPRequest, allowsAnyContentType: Bool) -> HTTPResponse? {
    guard !["GET", "HEAD", "OPTIONS"].contains(request.method) else { return nil }
    if let refusal = refusalOfSite(request) { return refusal }
    if let origin = request.header("origin"), !isOwn(origin, request) {
      return .text(403, "a request of the origin '\(origin.prefix(200))' is refused\n")
    }
    // A page cannot add a token without a preflight.
    guard !allowsAnyContentType, request.method == "POST", request.header("authorization") == nil else {
      return nil
    }
    guard let type = request.mediaType, !Self.simpleTypes.contains(type) else {
      return .text(415, "content-type must be application/json\n")
    }
    return nil
  }

  /// The response to a request that a browser makes for a page of another origin, also to a read; `nil` for others.
  package func refusalOfSite(_ request: HTTPRequest) -> HTTPResponse? {
    guard let site = request.header("sec-fetch-site"), !["same-origin", "none"].contains(site) else {
      return nil
    }
    return .text(403, "a request of another site is refused\n")
  }

  /// The content types of requests without preflight.
  private static let simpleTypes: Set<String> = [
    "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
  ]

  /// Whether an origin is that of the request, or has a configured name: a proxy may send requests for that name with
  /// another `Host`. Each program of this machine has origins with the names `localhost` and `127.0.0.1`, and with that of
  /// the listener's address, so their port must be the own one.
  private func isOwn(_ origin: String, _ request: HTTPRequest) -> Bool {
    guard let start = origin.firstRange(of: "://")?.upperBound, let authority = Authority(origin[start...]),
      !authority.host.isEmpty
    else { return false }
    return authority.text == request.header("host")?.lowercased()
      || allowedHosts.contains(authority.host)
  }

  private static let thisMachine: Set = ["localhost", "127.0.0.1", "[::1]"]

  private func isAllowed(_ host: String) -> Bool {
    allowedHosts.contains(host) || ownHosts.contains(host) || Self.isAddress(host)
  }

  /// Whether a host is an IP address in its usual form.
  private static func isAddress(_ name: String) -> Bool {
    if name.hasPrefix("[") { return true }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { $0.allSatisfy(\.isASCII) && UInt8($0) != nil }
  }
}
