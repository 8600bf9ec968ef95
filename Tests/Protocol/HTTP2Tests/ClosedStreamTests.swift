import HTTP
import HTTP2
import Testing

@Suite("Frames on closed streams") struct ClosedStreamTests {
  private typealias Frames = [[UInt8]]

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4)
  /// GET http://a/ in HPACK.
  private static let fields: [UInt8] = [0x82, 0x86, 0x84, 0x41, 0x01, 0x61]

  private static func frame(
    _ type: UInt8, _ flags: UInt8 = 0, on stream: UInt8 = 0, _ payload: [UInt8] = []
  ) -> [UInt8] {
    [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
  }

  private static func headers(_ stream: UInt8, ends: Bool) -> [UInt8] {
    frame(1, ends ? 5 : 4, on: stream, fields)
  }

  private static func data(_ stream: UInt8, ends: Bool = false) -> [UInt8] {
    frame(0, ends ? 1 : 0, on: stream, [7])
  }

  private static func reset(_ stream: UInt8) -> [UInt8] { frame(3, on: stream, [0, 0, 0, 8]) }

  /// Serves every request at once; returns the types, streams and codes of the RST_STREAM and GOAWAY frames.
  private func errors(_ frames: Frames, piece: Int = .max) throws -> [[UInt8]] {
    let session = try Session.server()
    var output: [UInt8] = []
    let input = Self.preface + frames.joined()
    var position = 0
    while position < input.count {
      let end = piece == .max ? input.count : min(position + piece, input.count)
      try Array(input[position..<end]).withUnsafeBytes { try session.receive($0) }
      position = end
      for case .headers(let id, _) in Conversation.events(of: session) where session.hasInboundEnded(of: id) {
        session.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: true)
      }
      output += try Conversation.output(of: session)
    }
    return Self.errors(in: output)
  }

  private static func errors(in output: [UInt8]) -> [[UInt8]] {
    var rest = output[...]
    var found: [[UInt8]] = []
    while rest.count >= 9 {
      let bytes = Array(rest)
      let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
      if bytes[3] == 3 { found.append([3, bytes[8], bytes[12]]) }
      if bytes[3] == 7 { found.append([7, bytes[16]]) }
      rest = rest.dropFirst(9 + length)
    }
    return found
  }

  private static let streamClosed: UInt8 = 5
  private static let protocolError: UInt8 = 1

  @Test("DATA or HEADERS after RST_STREAM reset the stream with STREAM_CLOSED", arguments: [1, 3, 9, .max])
  func afterReset(piece: Int) throws {
    for late in [Self.data(1), Self.headers(1, ends: true)] {
      let frames = [Self.headers(1, ends: false), Self.reset(1), late, Self.headers(3, ends: true)]
      #expect(try errors(frames, piece: piece) == [[3, 1, Self.streamClosed]])
    }
  }

  @Test(
    "DATA or HEADERS after a complete exchange end the connection with STREAM_CLOSED", arguments: [1, 15, 24])
  func afterEnd(piece: Int) throws {
    for late in [Self.data(1), Self.headers(1, ends: true)] {
      #expect(try errors([Self.headers(1, ends: true), late], piece: piece) == [[7, Self.streamClosed]])
    }
  }

  @Test("HEADERS on a stream that the client skipped end the connection")
  func skipped() throws {
    #expect(
      try errors([Self.headers(5, ends: true), Self.headers(3, ends: true)]) == [[7, Self.protocolError]])
  }

  @Test(
    "HEADERS on the last streams, also on those of the server, end the connection",
    arguments: [[0x7f, 0xff, 0xff, 0xfe], [0x7f, 0xff, 0xff, 0xfd]] as [[UInt8]])
  func lastStreams(first: [UInt8]) throws {
    let last: [UInt8] = [0x7f, 0xff, 0xff, 0xff]
    let frames = [first, last, first].map { [0, 0, UInt8(Self.fields.count), 1, 5] + $0 + Self.fields }
    #expect(try errors(frames).first?.first == 7)
  }

  @Test("Frames that cross a reset of the server are ignored")
  func serverReset() throws {
    let session = try Session.server()
    try (Self.preface + Self.headers(1, ends: false)).withUnsafeBytes { try session.receive($0) }
    session.reset(StreamID(rawValue: 1), .noError)
    _ = try Conversation.output(of: session)
    try (Self.data(1) + Self.data(1, ends: true) + Self.headers(3, ends: true)).withUnsafeBytes {
      try session.receive($0)
    }
    #expect(Self.errors(in: try Conversation.output(of: session)).isEmpty)
    #expect(session.openStreams == 1)
  }

  @Test("Trailers, interleaved streams and padded frames break no rule", arguments: [1, 7, .max])
  func legalFrames(piece: Int) throws {
    let frames = [
      Self.headers(1, ends: false), Self.headers(3, ends: false), Self.data(1), Self.data(3, ends: true),
      Self.frame(0, 8, on: 1, [2, 7, 0, 0]), Self.frame(1, 5, on: 1, [0x40, 1, 0x61, 1, 0x62]),
      Self.reset(1), Self.frame(8, on: 1, [0, 0, 0, 1]), Self.frame(2, on: 1, [0, 0, 0, 0, 1]),
    ]
    #expect(try errors(frames, piece: piece).isEmpty)
  }

  @Test("Frames that nghttp2 ignores count as control frames; priorities and padding ten times")
  func control() throws {
    let session = try Session.server()
    try (Self.preface + Self.headers(1, ends: false) + Self.reset(1)).withUnsafeBytes {
      try session.receive($0)
    }
    session.resetControlFrameCount()
    let unknown = Self.frame(0xee, on: 1, [1, 2])
    let padding = Self.frame(0, 8, on: 3, [1, 0])
    let priority = Self.frame(2, on: 1, [0, 0, 0, 0, 1])
    try (unknown + Self.headers(3, ends: false) + padding + priority).withUnsafeBytes {
      try session.receive($0)
    }
    #expect(session.controlFrames == 21)
  }

  @Test("A request and a message pay for the pings and window updates that libraries answer with")
  func freeFrames() throws {
    let session = try Session.server()
    let (update, ping) = (
      Self.frame(8, on: 0, [0, 0, 0, 1]), Self.frame(6, on: 0, [0, 0, 0, 0, 0, 0, 0, 1])
    )
    try (Self.preface + Self.headers(1, ends: true) + update + ping + update).withUnsafeBytes {
      try session.receive($0)
    }
    session.respond(on: StreamID(rawValue: 1), HeaderFields([(":status", "200")]), endOfStream: false)
    session.send(on: StreamID(rawValue: 1)) { $0 += [7] }
    try (update + update + ping).withUnsafeBytes { try session.receive($0) }
    #expect(session.controlFrames == 1, "the SETTINGS of the preface")
    try (update + ping).withUnsafeBytes { try session.receive($0) }
    #expect(session.controlFrames == 3)
    session.resetControlFrameCount()
    try Self.reset(1).withUnsafeBytes { try session.receive($0) }
    #expect(session.controlFrames == 1, "resets are never free")
  }

  @Test("HEADERS that open no stream count, and pay for no pings")
  func ignoredHeaders() throws {
    let session = try Session.server()
    try (Self.preface + Self.headers(1, ends: false)).withUnsafeBytes { try session.receive($0) }
    session.reset(StreamID(rawValue: 1), .noError)
    _ = try Conversation.output(of: session)
    session.resetControlFrameCount()
    for _ in 0..<10 {
      try Self.headers(1, ends: false).withUnsafeBytes { try session.receive($0) }
    }
    #expect(session.controlFrames == 10)
    let ping = Self.frame(6, on: 0, [0, 0, 0, 0, 0, 0, 0, 1])
    for _ in 0..<4 { try ping.withUnsafeBytes { try session.receive($0) } }
    #expect(session.controlFrames == 11, "the request itself pays for three")
  }

  @Test("Input is read in parts if its frames only cost, wherever it is cut", arguments: [1, 5, 31, 1_000])
  func parts(piece: Int) throws {
    var input = Self.preface
    for stream: UInt8 in stride(from: 1, to: 80, by: 2) {
      input += Self.headers(stream, ends: false)
      input += Self.reset(stream)
    }
    input += Self.headers(101, ends: true)
    let session = try Session.server()
    var position = 0
    var passes = 0
    while position < input.count {
      let end = min(position + piece, input.count)
      let part = try Array(input[position..<end]).withUnsafeBytes {
        try session.receive($0, maxControlFrames: 10)
      }
      position += part.count
      passes += 1
    }
    #expect(session.openStreams == 1 && session.hasInboundEnded(of: StreamID(rawValue: 101)))
    #expect(session.controlFrames == 41)
    if piece == 1_000 { #expect(passes == 5) }
  }

  @Test(
    "A few requests are read at once, and they are costly if they end in resets", arguments: [true, false])
  func invalidRequests(areInvalid: Bool) throws {
    let length: [UInt8] = [0x00, 14] + Array("content-length".utf8) + [1, UInt8(ascii: "1")]
    let content: [UInt8] = areInvalid ? [7, 7] : [7]
    var input = Self.preface
    for stream: UInt8 in stride(from: 1, to: 201, by: 2) {
      input += Self.frame(1, 4, on: stream, Self.fields + length) + Self.frame(0, 1, on: stream, content)
    }
    let session = try Session.server()
    let part = try input.withUnsafeBytes { try session.receive($0, maxControlFrames: 128) }
    #expect(part.count < input.count && part.isCostly == areInvalid)
    #expect(session.openStreams == 16)
    #expect(session.controlFrames < 128, "nothing is sent yet")
    _ = try Conversation.output(of: session)
    #expect((session.controlFrames > 128) == areInvalid)
  }

  @Test(
    "A few requests are read at once, fewer if they have large fields and no end, and those are costly",
    arguments: [true, false])
  func largeFields(end: Bool) throws {
    // A field of 4,000 bytes into the table, and three references of one byte to it in each request.
    let field: [UInt8] = [0x40, 1, 97, 0x7F, 0xA1, 0x1E] + [UInt8](repeating: 120, count: 4_000)
    let fields: [UInt8] = [0x82, 0x86, 0x84, 0x01, 1, 97]
    let flags: UInt8 = end ? 5 : 4
    let length = fields.count + field.count
    var input = Self.preface + [0, UInt8(length >> 8), UInt8(length & 0xFF), 1, flags, 0, 0, 0, 1]
    input += fields + field
    for stream: UInt8 in stride(from: 3, to: 201, by: 2) {
      input += Self.frame(1, flags, on: stream, fields + [0xBE, 0xBE, 0xBE])
    }
    let session = try Session.server()
    let part = try input.withUnsafeBytes { try session.receive($0, maxControlFrames: 128) }
    #expect(part.count < input.count && part.isCostly != end)
    #expect(session.openStreams == (end ? 16 : 8))
  }

  @Test("A few parts of a body are read at once, however small they are")
  func smallParts() throws {
    let input =
      Self.preface + Self.headers(1, ends: false)
      + (0..<1_000).flatMap { _ in Self.frame(0, on: 1, [7]) }
    let session = try Session.server()
    var position = 0
    var passes = 0
    while position < input.count {
      let part = try Array(input[position...]).withUnsafeBytes {
        try session.receive($0, maxControlFrames: 128)
      }
      #expect(!part.isCostly)
      position += part.count
      passes += 1
    }
    #expect(session.inboundBytes == 1_000 && (10...20).contains(passes))
  }

  @Test(
    "The bytes of a body after its first 4 KiB are work, in whatever frames they arrive",
    arguments: [100, 200])
  func work(piece: Int) throws {
    let session = try Session.server()
    var input = Self.preface + Self.headers(1, ends: false) + Self.headers(3, ends: false)
    let data = [UInt8](repeating: 7, count: piece)
    for _ in 0..<(10_000 / piece) { input += Self.frame(0, on: 1, data) }
    for _ in 0..<(4_000 / piece) { input += Self.frame(0, on: 3, data) }
    try input.withUnsafeBytes { try session.receive($0) }
    #expect(session.work == 10_000 - 4_096)
    session.addWork(1)
    #expect(session.work == 10_000 - 4_095)
    session.resetWork()
    #expect(session.work == 0 && session.inboundBytes == 14_000)
  }

  @Test("Frames on streams older than the last 64 that the client ended are ignored")
  func forgottenStreams() throws {
    let exchanges: Frames = stride(from: UInt8(1), through: 129, by: 2).map { Self.headers($0, ends: true) }
    // In pieces, so that each exchange is complete before the next one starts.
    let late = [Self.data(1), Self.headers(1, ends: true), Self.headers(133, ends: true)]
    #expect(try errors(exchanges + late, piece: 15).isEmpty)
    #expect(try errors(exchanges + [Self.data(3)], piece: 15) == [[7, Self.streamClosed]])
  }

  /// A session that has received a header block of the usual fields and `more`, with a limit of 4,096 bytes.
  private func session(after more: [UInt8]) throws -> Session {
    var limits = Limits()
    limits.headerBytes = 4_096
    let session = try Session.server(limits: limits)
    let block = Self.fields + more
    let head: [UInt8] = [0, UInt8(block.count >> 8), UInt8(block.count & 255), 1, 5, 0, 0, 0, 1]
    try (Self.preface + head + block).withUnsafeBytes { try session.receive($0) }
    return session
  }

  @Test("A header block of thousands of small fields is abandoned early")
  func smallFields() throws {
    let session = try session(after: (0..<2_900).flatMap { _ in [UInt8]([0, 1, 0x61, 1, 0x62]) })
    #expect(session.hasExcessiveHeaders)
    #expect(session.controlFrames < 200, "only a small part was decoded")
  }

  @Test("The bytes of header fields after the first 4 KiB are work, also of a complete request")
  func workOfHeaderFields() throws {
    let session = try Session.server()
    let field: [UInt8] = [0x40, 1, 0x78, 0x7f, 0xb9, 0x16] + [UInt8](repeating: 0x79, count: 3_000)
    let block = Self.fields + field + [0xbe]
    let head: [UInt8] = [0, UInt8(block.count >> 8), UInt8(block.count & 255), 1, 5, 0, 0, 0, 1]
    try (Self.preface + head + block).withUnsafeBytes { try session.receive($0) }
    let size = try #require(session.head(of: StreamID(rawValue: 1))).sizeInBytes
    #expect(size > 6_000 && session.work == size - 4_096)
  }

  @Test("A header block of references to a large field is abandoned early")
  func amplification() throws {
    // A field of 3,000 bytes into the table, and then references of one byte to it.
    let field: [UInt8] = [0x40, 1, 0x78, 0x7f, 0xb9, 0x16] + [UInt8](repeating: 0x79, count: 3_000)
    let session = try session(after: field + [UInt8](repeating: 0xbe, count: 12_000))
    #expect(session.hasExcessiveHeaders)
    #expect(session.controlFrames < 2_000, "only a small part of the 36 MB was decoded")
    try Self.headers(3, ends: true).withUnsafeBytes { try session.receive($0) }
    #expect(session.openStreams == 1)
    session.terminate(.enhanceYourCalm)
    #expect(Self.errors(in: try Conversation.output(of: session)) == [[7, 11]])
  }
}
