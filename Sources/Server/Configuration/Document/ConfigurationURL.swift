internal import Foundation

/// An http or https URL that the service can connect to.
struct ConfigurationURL {
  /// As the file has it.
  let text: String
  let isHTTPS: Bool
  /// A name, an IPv4 address, or an IPv6 address in brackets.
  let host: String
  /// `nil` if the URL has none.
  let port: Int?
  let hasUser: Bool
  let hasQuery: Bool

  /// Whether the host is a loopback address or `localhost`. `127.example.com` is neither.
  var isThisMachine: Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    let isAddress = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    return ["localhost", "[::1]"].contains(host) || (isAddress && parts[0] == "127")
  }
}

extension ConfigurationNode {
  /// Parses a URL; `example` is one for the error. Only a browser has a use for a fragment.
  func url(
    such example: String, allowsFragment: Bool = false
  ) throws(ConfigurationError) -> ConfigurationURL {
    let text = try text()
    if let other = text.unicodeScalars.first(where: { $0.value <= 0x20 || $0.value >= 0x7F || $0 == "\\" }) {
      let code = String(other.value, radix: 16, uppercase: true)
      throw error(
        "\(name) has the character U+\(String(repeating: "0", count: max(0, 4 - code.count)))\(code); "
          + "write it percent-encoded, and in a host name as xn--…")
    }
    guard let url = URLComponents(string: text), url.scheme == "https" || url.scheme == "http",
      let host = url.host, Self.isHost(host), allowsFragment || url.fragment == nil
    else { throw error("\(name) is not a URL such as \(example)") }
    // URLComponents has no number for one that is too large.
    if let port = url.rangeOfPort.map({ text[$0] }), !port.isEmpty, !(1...65_535).contains(Int(port) ?? 0) {
      throw error("\(name) has the port \(port), which is not between 1 and 65535")
    }
    return ConfigurationURL(
      text: text, isHTTPS: url.scheme == "https", host: host, port: url.port,
      hasUser: url.user != nil || url.password != nil, hasQuery: url.query != nil)
  }

  /// Whether a host is a name or an address, and has nothing that clients read differently.
  private static func isHost(_ host: String) -> Bool {
    let isAddress = host.hasPrefix("[") && host.hasSuffix("]")
    let text = isAddress ? host.dropFirst().dropLast() : host[...]
    return (1...253).contains(text.utf8.count)
      && text.allSatisfy { character in
        isAddress
          ? character.isHexDigit || ":.".contains(character)
          : character.isLetter || character.isNumber || "-._".contains(character)
      }
  }
}
