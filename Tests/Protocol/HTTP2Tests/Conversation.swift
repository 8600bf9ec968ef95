import HTTP
import HTTP2

/// A client session and a server session connected without a socket.
final class Conversation {
  let client: Session
  let server: Session
  private(set) var clientEvents: [SessionEvent] = []
  private(set) var serverEvents: [SessionEvent] = []

  init(_ limits: Limits = Limits()) throws {
    client = try .client()
    server = try .server(limits: limits)
    try exchange()
    clientEvents = []
    serverEvents = []
  }

  /// Transfers bytes in both directions until both sessions are idle, and collects their events.
  func exchange() throws {
    var isIdle = false
    while !isIdle {
      let toServer = try Self.output(of: client)
      let toClient = try Self.output(of: server)
      isIdle = toServer.isEmpty && toClient.isEmpty
      try toServer.withUnsafeBytes { try server.receive($0) }
      try toClient.withUnsafeBytes { try client.receive($0) }
      clientEvents += Self.events(of: client)
      serverEvents += Self.events(of: server)
    }
  }

  func clearEvents() {
    clientEvents = []
    serverEvents = []
  }

  func body(at session: Session, _ id: StreamID) -> [UInt8] {
    session.inbound(of: id) ?? []
  }

  static func output(of session: Session) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try session.withOutput {
      bytes += $0
      return true
    }
    return bytes
  }

  static func events(of session: Session) -> [SessionEvent] {
    var events: [SessionEvent] = []
    session.takeEvents(into: &events)
    return events
  }
}

let post = HeaderFields([
  (":method", "POST"), (":scheme", "http"), (":path", "/a"), (":authority", "b"),
])
