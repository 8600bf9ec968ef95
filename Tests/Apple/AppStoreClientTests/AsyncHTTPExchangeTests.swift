import Foundation
import Glibc
import Testing

@testable import AppStoreClient

@Suite("HTTP over the network") struct AsyncHTTPExchangeTests {
  @Test("The timeout ends a response whose body does not end", .timeLimit(.minutes(10)))
  func endlessBody() async throws {
    let server = try EndlessServer()
    defer { server.stop() }
    let request = OutgoingRequest(
      method: "GET", url: "http://127.0.0.1:\(server.port)/", headers: [], body: [])
    await #expect(throws: HTTPExchangeError.timedOut) {
      try await AsyncHTTPExchange.shared.send(request, timeout: .milliseconds(500), limit: 1 << 20)
    }
    await #expect(throws: HTTPExchangeError.tooLarge) {
      try await AsyncHTTPExchange.shared.send(request, timeout: .seconds(3_600), limit: 10)
    }
  }

  @Test("A cancelled request ends at once", .timeLimit(.minutes(10)))
  func cancellation() async throws {
    let server = try EndlessServer()
    defer { server.stop() }
    let request = OutgoingRequest(
      method: "GET", url: "http://127.0.0.1:\(server.port)/", headers: [], body: [])
    let call = Task {
      try await AsyncHTTPExchange.shared.send(request, timeout: .seconds(3_600), limit: 1 << 20)
    }
    call.cancel()
    await #expect(throws: HTTPExchangeError.cancelled) { try await call.value }
  }
}

/// A server whose responses begin, and then have one byte every ten milliseconds, without an end.
private final class EndlessServer: Sendable {
  let port: UInt16
  private let listener: Int32

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 8) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard listener >= 0, isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    (self.listener, port) = (listener, UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread {
      while case let peer = accept(listener, nil, nil), peer >= 0 {
        Thread.detachNewThread { Self.answer(peer) }
      }
      close(listener)
    }
  }

  /// Accepts no more connections.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// Sends until the peer closes the connection. Waits for a request first: the client may open a connection for one that
  /// has timed out meanwhile, and use it for the next one.
  private static func answer(_ peer: Int32) {
    defer { close(peer) }
    var request = [UInt8](repeating: 0, count: 4_096)
    guard recv(peer, &request, request.count, 0) > 0 else { return }
    var next = Array("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n".utf8)
    while send(peer, next, next.count, Int32(MSG_NOSIGNAL)) > 0 {
      next = [UInt8(ascii: ".")]
      usleep(10_000)
    }
  }
}
