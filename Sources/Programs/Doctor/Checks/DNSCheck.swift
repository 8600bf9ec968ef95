internal import Dispatch
internal import Glibc

/// Resolves the public host name with this machine's resolver, which may know other addresses than Apple's.
package struct DNSCheck: DoctorCheck {
  package let name = "dns"
  package var subject: String { host }
  package let timeLimit = Duration.seconds(5)
  private let host: String

  /// `host` is the host name of `public_url`.
  package init(host: String) { self.host = host }

  /// The addresses, or a fault with the text of the resolver (`gai_strerror`).
  package func run() async -> Finding {
    let host = host
    // The resolver blocks its thread.
    let result = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: Self.addresses(of: host)) }
    }
    switch result {
    case .success(let addresses): return .ok(addresses.joined(separator: ", "))
    case .failure(let error):
      return .fault(
        "no address: \(error.description)",
        action: "add an A or AAAA record for \(host), or correct public_url")
    }
  }

  /// The text of the resolver.
  private struct ResolverError: Error {
    let description: String
  }

  /// The numeric addresses of a host, each once.
  private static func addresses(of host: String) -> Result<[String], ResolverError> {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &first)
    guard code == 0 else { return .failure(ResolverError(description: String(cString: gai_strerror(code)))) }
    defer { freeaddrinfo(first) }
    var addresses: [String] = []
    var next = first
    while let entry = next?.pointee {
      var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let found = getnameinfo(
        entry.ai_addr, entry.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
      let text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if found == 0, !addresses.contains(text) { addresses.append(text) }
      next = entry.ai_next
    }
    return .success(addresses)
  }
}
