import Foundation
import Glibc
import Synchronization

/// A server whose responses begin, and then have one byte every ten milliseconds, without an end.
final class EndlessServer: Sendable {
  let port: UInt16
  private let listener: ListeningSocket

  /// `answered` is called when a response has begun.
  init(answered: @escaping @Sendable () -> Void = {}) throws {
    listener = try ListeningSocket { peer in
      // The client may open a connection for a request that has timed out meanwhile, and use it for the next one.
      guard !peer.receive().isEmpty else { return }
      var next = Array("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n".utf8)
      while peer.send(next) {
        answered()
        next = [UInt8(ascii: ".")]
        usleep(10_000)
      }
    }
    port = listener.port
  }

  /// Accepts no more connections.
  func stop() { listener.stop() }
}

/// A server that gives each request the same answer, and closes its connection.
final class AnsweringServer: Sendable {
  let port: UInt16
  private let listener: ListeningSocket
  private let received: RequestLog

  /// The requests: the first line, the fields in alphabetical order with names in lower case, and the body.
  var requests: [[String]] { received.texts.withLock { $0.map(Self.parts) } }

  init(_ answer: String) throws {
    let received = RequestLog()
    listener = try ListeningSocket { peer in
      var text = ""
      while !Self.isComplete(text) {
        let part = peer.receive()
        guard !part.isEmpty else { return }
        text += String(decoding: part, as: UTF8.self)
      }
      received.texts.withLock { $0.append(text) }
      _ = peer.send(Array(answer.utf8))
    }
    self.received = received
    port = listener.port
  }

  func stop() { listener.stop() }

  private static func isComplete(_ text: String) -> Bool {
    guard text.contains("\r\n\r\n"), let body = parts(text).last else { return false }
    let length = parts(text).first { $0.hasPrefix("content-length: ") }?.split(separator: " ").last
    return body.utf8.count >= length.flatMap { Int($0) } ?? 0
  }

  private static func parts(_ text: String) -> [String] {
    let sections = text.components(separatedBy: "\r\n\r\n")
    let lines = sections[0].components(separatedBy: "\r\n")
    let fields = lines.dropFirst().map { line in
      let name = line.prefix { $0 != ":" }
      return name.lowercased() + line.dropFirst(name.count)
    }
    return [lines[0]] + fields.sorted() + sections.dropFirst()
  }
}

private final class RequestLog: Sendable {
  let texts = Mutex<[String]>([])
}

/// A listening socket on 127.0.0.1, and a thread for each connection.
private final class ListeningSocket: Sendable {
  let port: UInt16
  private let listener: Int32

  init(answer: @escaping @Sendable (Connection) -> Void) throws {
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
        Thread.detachNewThread {
          answer(Connection(descriptor: peer))
          close(peer)
        }
      }
      close(listener)
    }
  }

  /// Refuses further connections.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  struct Connection: Sendable {
    let descriptor: Int32

    /// Returns what has arrived; empty at the end.
    func receive() -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      return Array(bytes.prefix(max(0, count)))
    }

    /// - Returns: whether the peer is still there.
    func send(_ bytes: [UInt8]) -> Bool {
      Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) > 0
    }
  }
}
