import Bytes
import SignedData
import TestSupport
import Testing

@Suite(.enabled(if: TestData.folder != nil, "ENTITLED_TESTDATA is not there"))
struct UnverifiedReceiptTests {
  @Test("Diagnosis decodes content and certificates of any receipt")
  func genuine() throws {
    let text = try TestData.bytes("genuine/receipt-sandbox-g5")
    let document = try #require(Base64.standard.decode(text.filter { $0 > 0x20 }[...]))
    let receipt = try UnverifiedReceipt(document)
    #expect(receipt.content.first == 0x31)
    #expect(receipt.certificates.count == 3)
    for (certificate, issuer) in zip(receipt.certificates, receipt.certificates.dropFirst()) {
      #expect(certificate.issuer == issuer.subject)
    }
    var altered = document
    altered[document.count / 2] ^= 1
    #expect((try? UnverifiedReceipt(altered))?.certificates.count == 3)
  }

  @Test("Bytes that are not PKCS#7 are rejected")
  func refused() {
    #expect(throws: VerificationError.self) { try UnverifiedReceipt([0x30, 0x80, 0x00, 0x00]) }
    #expect(
      throws: VerificationError.documentTooLarge(
        bytes: 50_000_000, limit: SignedDataVerifier.maximumReceiptBytes)
    ) { try UnverifiedReceipt([UInt8](repeating: 0, count: 50_000_000)) }
  }
}
