import AppStore
import Bytes
import Foundation
import JSON
import TestSupport
import Testing

@testable import SignedData

@Suite struct ServerAPITokenTests {
  private let clock = TestClock(TestChain.middle)

  private func source(lifetime: Duration = .seconds(1200)) throws -> ServerAPITokenSource {
    let signer = try JWTSigner(key: .generate(.p256), keyID: "KEY1")
    return ServerAPITokenSource(
      credentials: AppStoreCredentials(issuerID: "issuer", bundleID: "com.example", signer: signer),
      lifetime: lifetime, now: { [clock] in clock.now })
  }

  private func claims(_ token: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: CompactJWS(token).decodedPayload()).objectValue)
  }

  @Test("A token has Apple's required claims and a lifetime of twenty minutes")
  func claims() throws {
    let claims = try claims(source().token())
    #expect(claims["aud"] == "appstoreconnect-v1")
    #expect(claims["iss"] == "issuer")
    #expect(claims["bid"] == "com.example")
    #expect(claims["iat"] == 1_767_225_600)
    #expect(claims["exp"] == 1_767_226_800)
    #expect(claims["nonce"]?.stringValue?.count == 36)
  }

  @Test("Credentials that were read again sign the next token, also while the last one is fresh")
  func adopted() throws {
    let (source, other) = (try source(), try source())
    let before = try source.token()
    #expect(try source.token() == before)
    source.adoptCredentials(of: other)
    let after = try source.token()
    #expect(after != before)
    #expect(try source.token() == after)
  }

  @Test("A token's lifetime is capped at Apple's maximum")
  func longest() throws {
    #expect(try claims(source(lifetime: .seconds(86_400)).token())["exp"] == 1_767_229_200)
  }

  @Test("A token is reused until shortly before expiry, but not after the clock was set back")
  func reuse() throws {
    let source = try source()
    let first = try source.token()
    clock.advance(by: .seconds(1079))
    #expect(try source.token() == first)
    clock.advance(by: .seconds(1))
    let second = try source.token()
    #expect(second != first)
    clock.advance(by: .seconds(-600))
    #expect(try source.token() != second)
  }

  @Test("A token that Apple rejected is not reused")
  func discard() throws {
    let source = try source()
    let first = try source.token()
    source.discard()
    #expect(try source.token() != first)
  }
}

@Suite struct TokenKeysTests {
  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  @discardableResult
  private func write(
    _ name: String, in folder: URL, mode: Int = 0o600, changed: Int = 0, curve: SigningKey.Curve = .p256
  ) throws -> SigningKey {
    let key = try SigningKey.generate(curve)
    let path = folder.appending(path: name).path
    try Data(key.pem().utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes(
      [
        .posixPermissions: mode,
        .modificationDate: Date(timeIntervalSince1970: 1_700_000_000 + Double(changed)),
      ],
      ofItemAtPath: path)
    return key
  }

  private func names(_ ring: TokenKeyRing) -> [String] {
    (ring.jwks["keys"]?.arrayValue ?? []).compactMap { $0.objectValue?["kid"]?.stringValue }
  }

  @Test("The most recently modified key signs; all public keys are published")
  func newest() throws {
    try withFolder { folder in
      let old = try write("b.pem", in: folder)
      let new = try write("a.p8", in: folder, changed: 1)
      try write("notes.txt", in: folder, mode: 0o644)
      let ring = try TokenKeys(directory: folder.path).current
      #expect(ring.signer.keyID == (try new.thumbprint()))
      #expect(names(ring) == [try new.thumbprint(), try old.thumbprint()])
      for key in ring.jwks["keys"]?.arrayValue ?? [] {
        #expect(key.objectValue?.map(\.name) == ["crv", "kty", "x", "y", "kid", "alg", "use"])
      }
    }
  }

  @Test("Of two keys with the same time, the later file name signs")
  func tie() throws {
    try withFolder { folder in
      try write("2025.pem", in: folder)
      let later = try write("2026.pem", in: folder)
      #expect(try TokenKeys(directory: folder.path).current.signer.keyID == later.thumbprint())
    }
  }

  @Test("Keys are reloaded without a restart; an invalid key leaves the current ones in effect")
  func reload() throws {
    try withFolder { folder in
      let old = try write("1.pem", in: folder)
      let keys = try TokenKeys(directory: folder.path)
      let new = try write("2.pem", in: folder, changed: 1)
      #expect(names(keys.current) == [try old.thumbprint()])
      #expect(try keys.reload() == new.thumbprint())
      #expect(names(keys.current).count == 2)

      try write("3.pem", in: folder, mode: 0o640, changed: 2)
      #expect(throws: PrivateKeyFileError.self) { try keys.reload() }
      #expect(keys.current.signer.keyID == (try new.thumbprint()))
    }
  }

  @Test(
    "A key file accessible to others is rejected with its path and mode",
    arguments: [0o640, 0o604, 0o620, 0o601])
  func permissions(mode: Int) throws {
    try withFolder { folder in
      try write("key.pem", in: folder, mode: mode)
      let path = folder.appending(path: "key.pem").path
      let error = #expect(throws: PrivateKeyFileError.self) { try PrivateKeyFile.read(path) }
      #expect(error == .accessibleToOthers(path: path, mode: UInt32(mode)))
      #expect(error?.description.contains("0\(String(mode, radix: 8))") == true)
    }
  }

  @Test("Missing, empty, invalid, oversized and other-curve key files are rejected with their path")
  func refused() throws {
    try withFolder { folder in
      #expect(throws: PrivateKeyFileError.noKeys(directory: folder.path)) {
        try TokenKeys(directory: folder.path)
      }
      for (name, content) in [("empty.pem", 0), ("long.pem", 70_000)] {
        let path = folder.appending(path: name).path
        _ = FileManager.default.createFile(
          atPath: path, contents: Data(count: content), attributes: [.posixPermissions: 0o600])
        let error = #expect(throws: PrivateKeyFileError.self) { try PrivateKeyFile.read(path) }
        #expect(error?.description.contains(path) == true)
        try FileManager.default.removeItem(atPath: path)
      }
      #expect(throws: PrivateKeyFileError.self) { try PrivateKeyFile.read(folder.path) }
      #expect(throws: PrivateKeyFileError.self) { try PrivateKeyFile.read("\(folder.path)/none.pem") }
      try write("p384.pem", in: folder, curve: .p384)
      let curve = #expect(throws: PrivateKeyFileError.self) { try TokenKeys(directory: folder.path) }
      #expect(curve?.description.contains("not on P-256; create a key with 'openssl genpkey") == true)
    }
  }

  @Test("A key's id is its thumbprint (RFC 7638)")
  func thumbprint() throws {
    let key = try SigningKey.generate(.p256)
    let jwk = try JWTSigner(key: key, keyID: "k").publicJWK()
    let text =
      #"{"crv":"P-256","kty":"EC","x":"\#(jwk["x"]!.stringValue!)","y":"\#(jwk["y"]!.stringValue!)"}"#
    let expected = Base64.url.encodeUTF8(SHA256.hash(Array(text.utf8)[...]))
    #expect(try Array(key.thumbprint().utf8) == expected)
  }
}
