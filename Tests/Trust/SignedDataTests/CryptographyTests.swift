import AppStore
import Bytes
import Foundation
import JSON
import TestSupport
import Testing

@testable import SignedData

@Suite struct SHA256Tests {
  @Test(
    "Digests match the examples of FIPS 180-4",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        String(repeating: "a", count: 1_000_000),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
      ),
    ])
  func digest(text: String, expected: String) {
    #expect(Hex.encode(SHA256.hash(Array(text.utf8)[...])) == expected)
  }
}

@Suite struct AES256GCMTests {
  private static let key = [UInt8](repeating: 0, count: 32)

  @Test(
    "Content is decrypted as in test cases 13 and 14 of the specification of GCM",
    arguments: [
      (0, "530f8afbc74536b9a963b4f1c4cb738b"),
      (16, "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
    ])
  func vectors(size: Int, encrypted: String) throws {
    let sealed = [UInt8](repeating: 0, count: 12) + (try #require(Hex.decode(encrypted)))
    #expect(AES256GCM.open(sealed[...], key: Self.key) == [UInt8](repeating: 0, count: size))
  }

  @Test("Only the key opens what was sealed, and only if it did not change", arguments: [0, 1, 16, 100_000])
  func seal(size: Int) {
    let content = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    let sealed = AES256GCM.seal(content, key: Self.key)
    #expect(AES256GCM.open(sealed[...], key: Self.key) == content)
    #expect(AES256GCM.seal(content, key: Self.key) != sealed)
    #expect(AES256GCM.open(sealed[...], key: [UInt8](repeating: 1, count: 32)) == nil)
    #expect(AES256GCM.open(sealed[...], key: [1]) == nil)
    #expect(AES256GCM.open(sealed.prefix(27), key: Self.key) == nil)
    var changed = sealed
    changed[sealed.count - 1] ^= 1
    #expect(AES256GCM.open(changed[...], key: Self.key) == nil)
  }
}

@Suite struct SigningKeyTests {
  @Test("A key survives encoding to PEM and decoding")
  func pem() throws {
    let key = try SigningKey.generate(.p256)
    let text = try key.pem()
    #expect(text.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    #expect(try SigningKey(pem: text).thumbprint() == key.thumbprint())
  }

  @Test(
    "Text that is not a key is rejected",
    arguments: ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
  func refused(text: String) {
    #expect(throws: CryptographyError.self) { try SigningKey(pem: text) }
  }

  @Test("r and s keep 32 bytes each, with any leading bits")
  func signatureForms() throws {
    for (r, s) in [(UInt8(0), UInt8(1)), (0x80, 0x7F), (0xFF, 0)] {
      let raw = [r] + [UInt8](repeating: 7, count: 31) + [s] + [UInt8](repeating: 9, count: 31)
      let der = try #require(ECDSASignature(raw: raw[...])).der
      #expect(ECDSASignature(der: der[...])?.raw == raw)
    }
    #expect(ECDSASignature(raw: [UInt8](repeating: 1, count: 63)[...]) == nil)
    #expect(ECDSASignature(der: [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x02, 0x01][...]) == nil)
  }

  @Test("A P-384 key cannot make an ES256 signature")
  func wrongCurve() throws {
    let key = try SigningKey.generate(.p384)
    #expect(throws: CryptographyError.self) { try key.sign([1, 2, 3]) }
  }
}

/// The `openssl` command, written by others, must agree with what is made here.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "no openssl command"))
struct OpenSSLCommandTests {
  private func openssl(_ arguments: [String], in folder: URL) throws -> Bool {
    try Command.run("/usr/bin/openssl", arguments, in: folder).hasSucceeded
  }

  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "signed-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  @Test("OpenSSL's strict check accepts the chain, but not without the intermediate")
  func chain() throws {
    let chain = try TestChain()
    try withFolder { folder in
      try chain.root.pem.write(to: folder.appending(path: "root.pem"), atomically: true, encoding: .utf8)
      try chain.intermediate.pem.write(
        to: folder.appending(path: "intermediate.pem"), atomically: true, encoding: .utf8)
      try chain.leaf.pem.write(to: folder.appending(path: "leaf.pem"), atomically: true, encoding: .utf8)
      let at = String(TestChain.middle.millisecondsSince1970 / 1000)
      let check = ["verify", "-x509_strict", "-attime", at, "-CAfile", "root.pem"]
      #expect(try openssl(check + ["-untrusted", "intermediate.pem", "leaf.pem"], in: folder))
      #expect(try !openssl(check + ["leaf.pem"], in: folder))
    }
  }

  @Test("OpenSSL's command accepts the signature, but not of an altered message")
  func signature() throws {
    let key = try SigningKey.generate(.p256)
    let message = Array("a message".utf8)
    let signature = try #require(ECDSASignature(raw: try key.sign(message[...])[...]))
    try withFolder { folder in
      try key.pem().write(to: folder.appending(path: "private.pem"), atomically: true, encoding: .utf8)
      #expect(try openssl(["pkey", "-in", "private.pem", "-pubout", "-out", "key.pem"], in: folder))
      try Data(signature.der).write(to: folder.appending(path: "signature"))
      try Data(message).write(to: folder.appending(path: "message"))
      try Data(message + [0]).write(to: folder.appending(path: "changed"))
      let check = ["dgst", "-sha256", "-verify", "key.pem", "-signature", "signature"]
      #expect(try openssl(check + ["message"], in: folder))
      #expect(try !openssl(check + ["changed"], in: folder))
    }
  }
}
