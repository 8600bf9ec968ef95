internal import HTTP
internal import RPC
internal import Wire

/// What callers send inside of HTTP: frames, messages, JSON.
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
    read(Array(input.dropFirst()), as: requests[Int(choice) % requests.count])
  }

  static func readJSON(_ input: [UInt8]) {
    guard let choice = input.first else { return }
    readJSON(Array(input.dropFirst()), as: requests[Int(choice) % requests.count])
  }

  private static func read<Request: WireMessage>(_ bytes: [UInt8], as type: Request.Type) {
    guard let message = try? Request.decode(bytes) else { return }
    precondition(
      try! Request.decode(message.encodedBytes()) == message, "what is written is read as something else")
    _ = message.json()
  }

  private static func readJSON<Request: WireMessage>(_ bytes: [UInt8], as type: Request.Type) {
    guard let message = try? Request(json: bytes) else { return }
    precondition(
      try! Request.decode(message.encodedBytes()) == message, "what is written is read as something else")
    _ = try? Request(json: message.json(pretty: true))
  }
}
