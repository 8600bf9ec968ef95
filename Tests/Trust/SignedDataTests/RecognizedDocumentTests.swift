import AppStore
import Bytes
import JSON
import SignedData
import TestSupport
import Testing

@Suite struct RecognizedDocumentTests {
  private func recognize(_ text: String) throws -> RecognizedDocument {
    try RecognizedDocument(Array(text.utf8))
  }

  private func reason(_ bytes: [UInt8]) -> String? {
    do throws(UnrecognizedDocument) {
      _ = try RecognizedDocument(bytes)
      return nil
    } catch { return error.reason }
  }

  private static let receipt: [UInt8] = [0x30, 0x82, 0x00, 0x01, 0x00]
  private static let propertyList = "{\n\"purchase-info\" = \"ewo=\";\n}\n"

  private func base64(_ bytes: some Sequence<UInt8>) -> String {
    Base64.standard.encode(bytes)
  }

  @Test("A JWS is recognized bare, between spaces, and in a notification body")
  func jws() throws {
    #expect(try recognize("a.b.c") == .jws("a.b.c"))
    #expect(try recognize(" \n a.b.c\r\n") == .jws("a.b.c"))
    #expect(try recognize(#"{"signedPayload": "a.b.c"}"#) == .jws("a.b.c"))
  }

  @Test("A receipt is recognized as bytes, in Base64 with and without line breaks, and in a request")
  func appReceipt() throws {
    let text = base64(Self.receipt)
    #expect(try RecognizedDocument(Self.receipt) == .appReceipt(Self.receipt))
    #expect(try recognize(text) == .appReceipt(Self.receipt))
    #expect(try recognize(text.map { "\($0)\r\n" }.joined()) == .appReceipt(Self.receipt))
    #expect(try recognize(#"{"receipt-data": "\#(text)", "password": "p"}"#) == .appReceipt(Self.receipt))
    for indefinite: [UInt8] in [[0x30, 0x80, 0x06], [0x24, 0x80, 0x04], [0x04, 0x82, 0x10]] {
      #expect(try RecognizedDocument(indefinite) == .appReceipt(indefinite))
    }
  }

  @Test("A transaction receipt is recognized as text and in Base64")
  func transactionReceipt() throws {
    let bytes = Array(Self.propertyList.utf8)
    #expect(try recognize(base64(bytes)) == .transactionReceipt(bytes))
    #expect(
      try recognize("{ signature = \"a\"; }") == .transactionReceipt(Array("{ signature = \"a\"; }".utf8)))
  }

  @Test("A version 1 notification is recognized by its type")
  func notificationV1() throws {
    let document = try recognize(#"{"notification_type": "CANCEL", "bid": "com.example"}"#)
    guard case .notificationV1(let body) = document else {
      Issue.record("recognised as \(document)")
      return
    }
    #expect(body.notificationType == .cancel)
    #expect(body.bid == "com.example")
  }

  @Test(
    "Unknown formats are rejected with the reason",
    arguments: [
      ("", "EMPTY_DOCUMENT"), (" \n ", "EMPTY_DOCUMENT"), ("hello", "NOT_A_JWS"), ("MIIT*", "NOT_BASE64"),
      ("MIIT1", "NOT_BASE64"), ("aGVsbG8gd29ybGQh", "NOT_A_RECEIPT"), (#"{"a": 1}"#, "UNKNOWN_DOCUMENT"),
      (#"{"a": 1,}"#, "MALFORMED_JSON"), ("{", "MALFORMED_JSON"), ("[1]", "NOT_BASE64"), ("?", "NOT_BASE64"),
      ("hello world", "NOT_A_JWS"), ("héllo", "NOT_BASE64"),
      (#"{"notification_type": true}"#, "MALFORMED_FIELD"),
    ])
  func refused(text: String, reason: String) {
    #expect(self.reason(Array(text.utf8)) == reason)
  }

  @Test("The damage to the text of a receipt is named")
  func damagedReceipts() {
    let receipt: [UInt8] = [0x30, 0x82, 0x01, 0x00] + (0..<256).map { UInt8(truncatingIfNeeded: $0 * 251) }
    let text = Base64.standard.encode(receipt)
    let damaged = [
      (text.map { $0 == "+" ? " " : String($0) }.joined(), "spaces in place of '+'"),
      (Base64.url.encode(receipt), "URL-safe alphabet"),
      (Base64.standard.encode(receipt, padded: false), "padding with '=' at the end is missing"),
    ]
    for (text, word) in damaged {
      do throws(UnrecognizedDocument) {
        _ = try RecognizedDocument(Array(text.utf8))
        Issue.record("accepted")
      } catch {
        #expect(error.reason == "NOT_BASE64" && error.description.contains(word), "\(error)")
      }
    }
  }

  @Test(
    "A receipt that was encoded twice is named, and not accepted",
    arguments: [Self.receipt, Array(Self.propertyList.utf8)], ["\n", ""])
  func encodedTwice(receipt: [UInt8], end: String) {
    let twice = base64(Array((base64(receipt) + end).utf8))
    let thrice = base64(Array(twice.utf8))
    for (text, word) in [(twice, "encoded twice"), (thrice, "but not a receipt")] {
      let error = #expect(throws: UnrecognizedDocument.self) { try recognize(text) }
      #expect(error?.reason == "NOT_A_RECEIPT" && error?.description.contains(word) == true, "\(text)")
    }
  }

  @Test("A JWS that was cut before its first dot is a JWS")
  func cutJWS() throws {
    for text in ["eyJhbGciOiJFUzI1NiJ9", "eyJhbGciOiJFUzI1NiIsIng1YyI6WyJ"] {
      #expect(try recognize(text) == .jws(text))
    }
  }

  @Test("Size and depth limits reject a document before it is processed")
  func bounds() {
    #expect(reason([UInt8](repeating: 0x30, count: 50_000_000)) == "DOCUMENT_TOO_LARGE")
    let deep =
      #"{"a": "# + String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000) + "}"
    #expect(reason(Array(deep.utf8)) == "MALFORMED_JSON")
    let zeros = String(repeating: "0,", count: 100_000) + "0"
    #expect(reason(Array(#"{"notification_type": "CANCEL", "a": [\#(zeros)]}"#.utf8)) == "MALFORMED_JSON")
    #expect(reason([0xFF, 0xFE, 0x2E]) == "NOT_A_JWS")
  }

  @Test(
    "Third-party documents are recognized",
    .enabled(if: TestData.folder != nil, "ENTITLED_TESTDATA is not there"),
    arguments: [
      ("genuine/receipt-sandbox-g5", "appReceipt"), ("apple-asl/xcode/xcode-app-receipt-empty", "appReceipt"),
      ("apple-asl/xcode/xcode-app-receipt-with-transaction", "appReceipt"),
      ("apple-asl/mock_signed_data/legacyTransaction", "transactionReceipt"),
      ("apple-asl/mock_signed_data/testNotification", "jws"),
      ("apple-asl/xcode/xcode-signed-transaction", "jws"),
    ])
  func thirdParty(path: String, kind: String) throws {
    let document = try RecognizedDocument(TestData.bytes(path))
    #expect(String(describing: document).hasPrefix("\(kind)("))
  }

  @Test("The certificates of a rejected document are decoded for diagnosis")
  func certificates() throws {
    let chain = try TestChain(name: "Unknown")
    let jws = try UnverifiedJWS(chain.signer.sign(payload: TestChain.transaction()))
    #expect(jws.certificates.map(\.der) == [chain.leaf, chain.intermediate, chain.root].map(\.der))
    #expect(jws.certificates[0].issuer == "/CN=Unknown Intermediate")
    #expect(jws.certificates[0].fingerprint().count == 32)
  }
}
