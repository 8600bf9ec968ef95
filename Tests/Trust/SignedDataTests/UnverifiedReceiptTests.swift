import Bytes
import SignedData
import TestSupport
import Testing

@Suite(.enabled(if: TestData.folder != nil, "ENTITLED_TESTDATA is not there"))
struct UnverifiedReceiptTests {
  @Test("A receipt's content and certificates can be shown whether it is genuine or not")
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

  @Test("What is no receipt is refused")
  func refused() {
    #expect(throws: VerificationError.self) { try UnverifiedReceipt([0x30, 0x80, 0x00, 0x00]) }
    #expect(
      throws: VerificationError.documentTooLarge(
        bytes: 50_000_000, limit: SignedDataVerifier.maximumReceiptBytes)
    ) { try UnverifiedReceipt([UInt8](repeating: 0, count: 50_000_000)) }
  }
}
