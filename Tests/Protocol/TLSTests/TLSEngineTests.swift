import AppStore
import CTLS
import Glibc
import Sandbox
import Testing

@testable import TLS

struct TLSEngineTests {
  @Test func contentOfAnySizeArrivesInBothDirections() throws {
    let pair = try EnginePair(.name("localhost"))
    try pair.shakeHands()
    for size in [1, 16 * 1_024 - 1, 16 * 1_024, 16 * 1_024 + 1, 300_000] {
      let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      #expect(try EnginePair.carry(content, from: pair.client, to: pair.server) == content)
      #expect(try EnginePair.carry(content, from: pair.server, to: pair.client) == content)
    }
  }

  @Test func aRecordThatArrivesByteByByteIsComplete() throws {
    let pair = try EnginePair(.name("localhost"))
    try pair.shakeHands()
    let records = try EnginePair.records(of: Array("pieces".utf8), from: pair.client)
    var content: [UInt8] = []
    for byte in records { content += try EnginePair.read([byte], pair.server).content }
    #expect(content == Array("pieces".utf8))
  }

  @Test func bothSidesKnowTheSelectedProtocol() throws {
    let pair = try EnginePair(.name("localhost"), offersHTTP2: true)
    try pair.shakeHands()
    #expect(pair.client.negotiatedProtocol == "h2")
    #expect(pair.server.negotiatedProtocol == "h2")
    let without = try EnginePair(.name("localhost"))
    try without.shakeHands()
    #expect(without.server.negotiatedProtocol == nil)
  }

  @Test func theEndOfAPeerFollowsItsContent() throws {
    let pair = try EnginePair(.name("localhost"))
    try pair.shakeHands()
    var records = try EnginePair.records(of: Array("last".utf8), from: pair.client)
    pair.client.end()
    records += EnginePair.output(pair.client)
    let (content, hasEnded) = try EnginePair.read(records, pair.server)
    #expect(content == Array("last".utf8))
    #expect(hasEnded)
  }

  @Test(arguments: [TLSHost.name("localhost"), .address("127.0.0.1"), .address("::1")])
  func aCertificateContainsItsNamesAndAddresses(host: TLSHost) throws {
    try EnginePair(host).shakeHands()
  }

  @Test(arguments: [TLSHost.name("example.com"), .address("192.0.2.1")])
  func aClientRejectsACertificateForAnotherName(host: TLSHost) throws {
    #expect(throws: TLSFailure.otherName) { try EnginePair(host).shakeHands() }
  }

  @Test func aClientRejectsACertificateOfAnotherAuthority() throws {
    let other = try EnginePair.authority()
    let pair = try EnginePair(.name("localhost"), trusting: other.root)
    #expect {
      try pair.shakeHands()
    } throws: { error in
      if case .untrusted? = error as? TLSFailure { true } else { false }
    }
  }

  @Test func aProbeSeesAChainThatItDoesNotTrust() throws {
    let pair = try EnginePair(
      .name("example.com"), trusting: EnginePair.authority().root, requiresTrust: false)
    try pair.shakeHands()
    #expect(pair.client.presentedChain.count == 1)
  }

  @Test func aServerRejectsACertificateThatIsNotForClients() throws {
    let pair = try EnginePair(.name("localhost"), presentsCertificate: true)
    #expect(throws: TLSFailure.untrusted(reason: "unsuitable certificate purpose")) { try pair.shakeHands() }
  }

  @Test func aClientWithoutACertificateHasNoNames() throws {
    let pair = try EnginePair(.name("localhost"))
    try pair.shakeHands()
    #expect(pair.server.clientNames == nil)
  }

  @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "SSH-2.0-OpenSSH\r\n"])
  func anotherProtocolIsRecognized(text: String) throws {
    let pair = try EnginePair(.name("localhost"))
    for engine in [pair.server, pair.client] {
      #expect(throws: TLSFailure.notTLS) {
        _ = try engine.handshake()
        try Array(text.utf8).withUnsafeBytes { try engine.receive($0) }
        _ = try engine.handshake()
      }
    }
  }

  @Test func aPeerThatSendsRecordsWithoutContentIsRejected() throws {
    let pair = try EnginePair(.name("localhost"))
    try pair.shakeHands()
    #expect(throws: TLSFailure.withoutContent) {
      // Parts of one record that never ends.
      let piece = [UInt8](repeating: 0, count: TLSEngine.pieceSize)
      for _ in 0..<10 { try piece.withUnsafeBytes { try pair.server.receive($0) } }
    }
  }

  @Test(arguments: [0, 1, 1_000])
  func aPeerThatChangesItsKeyAgainAndAgainIsRejected(contentOfEach: Int) throws {
    let pair = try EnginePair(.name("localhost"))
    try pair.shakeHands()
    let content = [UInt8](repeating: 1, count: contentOfEach)
    #expect(throws: TLSFailure.tooManyKeyUpdates) {
      for _ in 0..<100 {
        _ = try EnginePair.read(pair.client.keyUpdate(), pair.server)
        _ = try EnginePair.carry(content, from: pair.client, to: pair.server)
      }
    }
  }

  @Test func keyUpdatesAreAcceptedAfterMuchContent() throws {
    let pair = try EnginePair(.name("localhost"))
    try pair.shakeHands()
    let content = [UInt8](repeating: 1, count: 1 << 20)
    for _ in 0..<4 {
      for _ in 0..<32 { _ = try EnginePair.read(pair.client.keyUpdate(), pair.server) }
      #expect(try EnginePair.carry(content, from: pair.client, to: pair.server) == content)
    }
  }
}

struct TLSContextTests {
  @Test func aKeyOfAnotherCertificateIsRefused() throws {
    let one = try EnginePair.authority()
    let other = try EnginePair.authority()
    let certificates = try #require(CertificateList(.text(one.certificate)))
    let key = try #require(PrivateKey(.text(other.key)))
    #expect(throws: TLSFailure.failed(reason: "key values mismatch")) {
      try TLSContext(server: certificates, key: key)
    }
  }

  @Test func aKeyOfAnotherTypeIsRefused() throws {
    let authority = try EnginePair.authority()
    let certificates = try #require(CertificateList(.text(authority.certificate)))
    // An Ed25519 key in PKCS #8 (RFC 8410, section 7); its last 32 bytes may be any.
    let key = try #require(
      PrivateKey(
        .text(
          """
          -----BEGIN PRIVATE KEY-----
          MC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
          -----END PRIVATE KEY-----
          """)))
    #expect(throws: TLSFailure.self) { try TLSContext(server: certificates, key: key) }
  }

  @Test func aListHasTheCertificatesOfItsTextAndTheirFirstEnd() throws {
    let authority = try EnginePair.authority()
    let list = try #require(CertificateList(.text(authority.root + "\n" + authority.certificate)))
    #expect(list.certificates.count == 2)
    #expect(list.end == CertificateList(.text(authority.certificate))?.end)
  }

  @Test func damagedTextIsNoCertificateAndNoKey() throws {
    let authority = try EnginePair.authority()
    let damaged = authority.root + authority.certificate.replacing("MII", with: "MXX")
    for text in ["", "text", authority.key, damaged] { #expect(CertificateList(.text(text)) == nil) }
    for text in ["", authority.certificate] { #expect(PrivateKey(.text(text)) == nil) }
  }
}

extension TLSEngine {
  /// Returns a record that announces a new key (RFC 8446, section 4.6.3).
  func keyUpdate() -> [UInt8] {
    SSL_key_update(tls, SSL_KEY_UPDATE_NOT_REQUESTED)
    _ = try? handshake()
    return EnginePair.output(self)
  }
}

/// A client and a server that exchange their records in memory.
struct EnginePair {
  let client: TLSEngine
  let server: TLSEngine

  /// `authority` has the names `localhost`, `127.0.0.1` and `::1`.
  init(
    _ host: TLSHost, trusting root: String? = nil, offersHTTP2: Bool = false, requiresTrust: Bool = true,
    presentsCertificate: Bool = false
  ) throws {
    let authority = try Self.authority()
    let own = try #require(CertificateList(.text(authority.certificate)))
    let key = try #require(PrivateKey(.text(authority.key)))
    let authorities = try #require(CertificateList(.text(root ?? authority.root)))
    server = try TLSEngine(
      TLSContext(server: own, key: key, clientAuthorities: CertificateList(.text(authority.root))))
    client = try TLSEngine(
      TLSContext(
        client: authorities, identity: presentsCertificate ? (own, key) : nil, requiresTrust: requiresTrust,
        offersHTTP2: offersHTTP2), host: host)
  }

  static func authority() throws -> SandboxTLSAuthority {
    try SandboxTLSAuthority(
      directory: nil, names: ["localhost", "127.0.0.1", "::1"],
      now: Instant(millisecondsSince1970: Int64(time(nil)) * 1_000))
  }

  func shakeHands() throws {
    var isComplete = (client: false, server: false)
    while !isComplete.client || !isComplete.server {
      isComplete.client = try client.handshake()
      try Self.output(client).withUnsafeBytes { try server.receive($0) }
      isComplete.server = try server.handshake()
      try Self.output(server).withUnsafeBytes { try client.receive($0) }
    }
    _ = try Self.read([], client)
  }

  static func carry(_ content: [UInt8], from sender: TLSEngine, to receiver: TLSEngine) throws -> [UInt8] {
    try read(records(of: content, from: sender), receiver).content
  }

  /// The records of `content`.
  static func records(of content: [UInt8], from sender: TLSEngine) throws -> [UInt8] {
    var records: [UInt8] = []
    try content.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        rest = rest.dropFirst(try sender.write(UnsafeRawBufferPointer(rebasing: rest)))
        records += output(sender)
      }
    }
    return records
  }

  static func output(_ engine: TLSEngine) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: engine.outputCount) { buffer, count in
      count = engine.takeOutput(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  static func read(_ records: [UInt8], _ engine: TLSEngine) throws -> (content: [UInt8], hasEnded: Bool) {
    var content: [UInt8] = []
    var rest = records[...]
    repeat {
      let piece = rest.prefix(TLSEngine.pieceSize)
      rest = rest.dropFirst(piece.count)
      try piece.withUnsafeBytes { try engine.receive($0) }
      var buffer = [UInt8](repeating: 0, count: 5_000)
      reading: while true {
        switch try buffer.withUnsafeMutableBytes({ try engine.read(into: $0) }) {
        case .content(let count): content += buffer[..<count]
        case .needsRecords: break reading
        case .ended: return (content, true)
        }
      }
    } while !rest.isEmpty
    return (content, false)
  }
}
