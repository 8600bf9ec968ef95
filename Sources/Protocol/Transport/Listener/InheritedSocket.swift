internal import Glibc

/// A listening socket of the parent process, such as systemd. Its queue holds connections across restarts.
package struct InheritedSocket: Hashable, Sendable {
  /// Valid until the listener that uses it has shut down.
  package let descriptor: CInt
  /// The bound address.
  package let address: HostAndPort

  /// Wraps a descriptor; `nil` if it is not a listening TCP socket.
  package init?(descriptor: CInt) {
    var listens: CInt = 0
    var size = socklen_t(MemoryLayout<CInt>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens == 1,
      let address = Self.address(of: descriptor)
    else { return nil }
    self.descriptor = descriptor
    self.address = address
  }

  /// The address that a socket is bound to; `nil` for a socket of another kind.
  private static func address(of descriptor: CInt) -> HostAndPort? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let failure = withUnsafeMutablePointer(to: &storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard getsockname(descriptor, address, &size) == 0 else { return EAI_SYSTEM }
        return getnameinfo(
          address, size, &host, socklen_t(host.count), &port, socklen_t(port.count),
          NI_NUMERICHOST | NI_NUMERICSERV)
      }
    }
    guard failure == 0, let number = Int(String(nullTerminated: port)) else { return nil }
    return HostAndPort(host: String(nullTerminated: host), port: number)
  }
}

extension String {
  fileprivate init(nullTerminated characters: [CChar]) {
    self.init(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
