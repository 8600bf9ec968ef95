import AppReceipt
import AppStore
import Foundation
import SignedData
import TestSupport
import Testing

enum OpenSSLCommand {
  static let file = URL(filePath: "/usr/bin/openssl")
  static var exists: Bool { FileManager.default.isExecutableFile(atPath: file.path) }

  /// An RSA key of 2048 bits, as receipts are signed with. One serves all tests, because the command takes 0.1 to 1 s.
  static func rsaKey() throws -> SigningKey { try generatedKey.get() }

  private static let generatedKey = Result {
    let command = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
    return try SigningKey(pem: try Command.run(file.path, command).text)
  }
}

/// Receipts between this program and the `openssl` command, in both directions.
@Suite(.enabled(if: OpenSSLCommand.exists, "there is no openssl command"))
struct OpenSSLCommandTests {
  private let chain: ReceiptChain
  private let folder: URL

  init() throws {
    chain = try ReceiptChain(key: OpenSSLCommand.rsaKey())
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try write("root.pem", Array(chain.root.pem.utf8))
    try write("intermediate.pem", Array(chain.intermediate.pem.utf8))
    try write("leaf.pem", Array(chain.leaf.pem.utf8))
    try write("key.pem", Array(chain.key.pem().utf8))
    let other = try ReceiptChain()
    try write("other.pem", Array(other.leaf.pem.utf8))
    try write("other.key", Array(other.key.pem().utf8))
    try write("content", ReceiptChain.content().content)
  }

  private func write(_ name: String, _ bytes: [UInt8]) throws {
    try Data(bytes).write(to: folder.appending(path: name))
  }

  private func read(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appending(path: name)))
  }

  /// Runs the command in the test's folder; true if it succeeded.
  private func openssl(_ arguments: String) throws -> Bool {
    let arguments = arguments.split(separator: " ").map(String.init)
    return try Command.run(OpenSSLCommand.file.path, arguments, in: folder).hasSucceeded
  }

  @Test("The command verifies our receipts, and gets the content out of them", arguments: ["cms", "smime"])
  func ours(tool: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    for digest in ReceiptSigner.Digest.allCases {
      try write("receipt", chain.signer.sign(content: read("content"), digest: digest))
      let instant = ReceiptChain.middle.millisecondsSince1970 / 1000
      #expect(
        try openssl(
          "\(tool) -verify -inform DER -in receipt -binary -purpose any -CAfile root.pem -attime \(instant)"
            + " -out verified"))
      #expect(try read("verified") == read("content"))
    }
  }

  @Test(
    "Receipts of OpenSSL's command verify in DER and BER, with and without signed attributes",
    arguments: [
      "cms -noattr -md sha1", "cms -noattr -md sha256", "cms -md sha256", "cms -stream -noattr -md sha256",
      "cms -stream -md sha1", "cms -keyid -noattr -md sha256", "smime -noattr -md sha1", "smime -md sha256",
    ])
  func theirs(options: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(
      try openssl(
        "\(options) -sign -binary -nodetach -in content -signer leaf.pem -inkey key.pem"
          + " -certfile intermediate.pem -outform DER -out receipt"))
    let receipt = try read("receipt")
    let verifier = try chain.verifier()
    #expect(verifier.refusal(of: receipt) == nil)
    #expect(receipt[1] == 0x80 || !options.contains("-stream"))
    let content = try read("content")
    let start = try #require(receipt.firstRange(of: content)).lowerBound
    for position in [start + 5, receipt.count - (receipt[1] == 0x80 ? 40 : 1)] {
      var changed = receipt
      changed[position] ^= 1
      #expect(verifier.refusal(of: changed) == "BAD_SIGNATURE")
    }
  }

  @Test(
    "Unsupported digests and detached content are rejected",
    arguments: [
      ("-nodetach -noattr -md md5", "UNSUPPORTED_ALGORITHM"),
      ("-nodetach -noattr -md sha512", "UNSUPPORTED_ALGORITHM"), ("-noattr -md sha256", "NOT_A_RECEIPT"),
      ("-nodetach -nocerts -noattr -md sha256", "UNTRUSTED_ROOT"),
      ("-nodetach -noattr -md sha256 -signer other.pem -inkey other.key", "NOT_A_RECEIPT"),
    ])
  func refused(options: String, reason: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(
      try openssl(
        "cms \(options) -sign -binary -in content -signer leaf.pem -inkey key.pem"
          + " -certfile intermediate.pem -outform DER -out receipt"))
    #expect(try chain.verifier().refusal(of: read("receipt")) == reason)
  }

  @Test("An enveloped PKCS#7 message is rejected as a receipt")
  func enveloped() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(
      try openssl("cms -encrypt -aes128 -binary -in content -outform DER -out receipt leaf.pem"))
    #expect(try chain.verifier().refusal(of: read("receipt")) == "NOT_A_RECEIPT")
  }
}
