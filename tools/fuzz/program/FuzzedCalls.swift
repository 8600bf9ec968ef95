internal import HTTP
internal import RPC
internal import Wire

/// Requests inside HTTP: frames, messages, JSON.
enum FuzzedCalls {
  private static let requests = Contract.services.flatMap(\.methods).map(\.requestType)

  static func readFrames(_ input: [UInt8]) {
    for encoding in [MessageEncoding.identity, .gzip] {
      let mailbox = MessageMailbox(backlogBytes: 64 << 10)
      input.withUnsafeBytes { bytes in
        guard let (used, _) = try? mailbox.fill(from: bytes, encoding: encoding, limit: 1 << 20) else {
          return
        }
        precondition(used <= bytes.count)
      }
    }
    input.withUnsafeBytes { _ = Timeout($0) }
    let text = String(decoding: input, as: UTF8.self)
    _ = Metadata(HeaderFields([("note-bin", text), ("note", text)])).fields
  }

  static func readMessage(_ input: [UInt8]) {
    guard let choice = input.first else { return }
    requests[Int(choice) % requests.count].readBack(Array(input.dropFirst()))
  }

  static func readConnect(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    let json = (name: "content-type", value: "application/json")
    let fields: [[(name: String, value: String)]] = [
      [json, ("content-encoding", "gzip")],
      [json, ("connect-timeout-ms", text), ("accept-encoding", text)], [("content-type", text)],
    ]
    var requests = fields.map {
      HTTPRequest(method: "POST", target: "/s/m", headers: HeaderFields($0), body: input)
    }
    requests.append(HTTPRequest(method: "GET", target: "/s/m?\(text)"))
    for request in requests { _ = try? ConnectRequest(request).message(limit: 1 << 20) }
  }

  static func readJSON(_ input: [UInt8]) {
    guard let choice = input.first else { return }
    requests[Int(choice) % requests.count].readBack(json: Array(input.dropFirst()))
  }
}

extension WireMessage {
  /// Decodes bytes and, if they are a message, encodes it and decodes the result.
  fileprivate static func readBack(_ bytes: [UInt8]) {
    guard let message = try? decode(bytes) else { return }
    precondition(try! decode(message.encodedBytes()) == message, "what is written is read as something else")
    _ = message.json()
  }

  /// Does the same with JSON.
  fileprivate static func readBack(json: [UInt8]) {
    guard let message = try? Self(json: json) else { return }
    precondition(try! decode(message.encodedBytes()) == message, "what is written is read as something else")
    _ = try? Self(json: message.json(pretty: true))
  }
}
