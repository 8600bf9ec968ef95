import AppReceipt
import AppStore
import SignedData
import TestSupport
import Testing

/// A receipt that Apple signed, and those that Xcode makes.
@Suite(.enabled(if: TestData.folder != nil, "ENTITLED_TESTDATA is not there"))
struct VerifiedReceiptTests {
  private let path = "genuine/receipt-sandbox-g5"
  private let app = AppIdentity(bundleID: "dev.bonzer.weeka.app", appAppleID: nil)

  private func verifier() throws -> SignedDataVerifier { try SignedDataVerifier(anchors: .apple()) }

  @Test("Apple's receipt verifies at its creation date, years after its certificates expired")
  func genuine() throws {
    let verified: Verified<AppReceiptPayload> = try verifier().verifyReceipt(
      base64: TestData.text(path), for: app, environments: [.sandbox])
    let receipt = verified.payload
    #expect(receipt.receiptType == .productionSandbox)
    #expect(receipt.bundleID == "dev.bonzer.weeka.app")
    #expect(receipt.applicationVersion == "2")
    #expect(receipt.originalApplicationVersion == "1.0")
    #expect(receipt.creationDate == Instant(rfc3339: "2025-12-26T18:39:47Z"))
    #expect(receipt.originalPurchaseDate == Instant(rfc3339: "2013-08-01T07:00:00Z"))
    #expect(receipt.expirationDate == nil)
    #expect(receipt.appItemID == 0)
    #expect(verified.signer?.anchor.contains("CN=Apple Root CA") == true)
    #expect(verified.signer?.subject.contains("Receipt Signing") == true)
    #expect(receipt.attributes.count == 23 && receipt.unknownAttributes.contains { $0.type == 25 })
  }

  @Test("All attributes of the two purchases are decoded")
  func purchases() throws {
    let verified: Verified<AppReceiptPayload> = try verifier().verifyReceipt(
      base64: TestData.text(path), for: app, environments: [.sandbox])
    let purchases = verified.payload.purchases
    #expect(purchases.map(\.transactionID) == ["2000001092134138", "2000001092148094"])
    let first = try #require(purchases.first)
    #expect(first.originalTransactionID == "2000001092134138")
    #expect(first.productID == "dev.bonzer.weeka.app.subscription.pro.annual")
    #expect(first.quantity == 1)
    #expect(first.productType == .autoRenewableSubscription)
    #expect(first.purchaseDate == Instant(rfc3339: "2025-12-26T17:43:07Z"))
    #expect(first.expirationDate == Instant(rfc3339: "2025-12-26T18:19:07Z"))
    #expect(first.webOrderLineItemID == 0x071A_FD50_E748_2D)
    #expect(first.cancellationDate == nil)
    #expect(first.isInTrialPeriod == false && first.isInIntroductoryOfferPeriod == false)
  }

  @Test("Apple's receipt matches its own device only")
  func device() throws {
    let verified: Verified<AppReceiptPayload> = try verifier().verifyReceipt(
      base64: TestData.text(path), for: app, environments: [.sandbox])
    var device: [UInt8] = [
      0x95, 0x63, 0x28, 0xD9, 0xCC, 0x6A, 0x47, 0xF4, 0xBE, 0x40, 0x69, 0x53, 0xFB, 0x0A, 0xB6, 0xC7,
    ]
    #expect(try verified.payload.isFor(device: device))
    device[0] ^= 1
    #expect(try !verified.payload.isFor(device: device))
    #expect(try !verified.payload.isFor(device: []))
  }

  @Test("The JSON of a receipt decodes as a verifyReceipt response")
  func json() throws {
    let verified: Verified<AppReceiptPayload> = try verifier().verifyReceipt(
      base64: TestData.text(path), for: app, environments: [.sandbox])
    let shown = try LegacyReceipt(json: verified.payload.json)
    #expect(shown.receiptType == "ProductionSandbox")
    #expect(shown.receiptCreationDate == verified.payload.creationDate)
    #expect(verified.payload.json["receipt_creation_date"] == "2025-12-26 18:39:47 Etc/GMT")
    #expect(shown.inApp?.map(\.transactionId) == verified.payload.purchases.map(\.transactionID))
    #expect(shown.inApp?.first?.expiresDate == verified.payload.purchases.first?.expirationDate)
  }

  @Test("Apple's receipt is rejected for another app, environment or root")
  func misaddressed() throws {
    let receipt = try TestData.decoded(path)
    let verifier = try verifier()
    #expect(verifier.refusal(of: receipt) == "WRONG_BUNDLE")
    #expect(verifier.refusal(of: receipt, app: app, environments: [.production]) == "WRONG_ENVIRONMENT")
    #expect(verifier.refusal(of: receipt, app: app, environments: [.sandbox]) == nil)
  }

  @Test("A flipped bit in the signed content or the signature is rejected")
  func flippedBits() throws {
    let receipt = try TestData.decoded(path)
    let verifier = try verifier()
    let content = 62..<1410
    let signature = (receipt.count - 256)..<receipt.count
    for position in Array(content.dropFirst(4)) + Array(signature) where position % 7 == 0 {
      var changed = receipt
      changed[position] ^= 1 << UInt8(position % 8)
      #expect(verifier.refusal(of: changed, app: app) == "BAD_SIGNATURE", "byte \(position)")
    }
  }

  @Test("A flipped bit anywhere is rejected, except in insignificant bytes")
  func flippedAnywhere() throws {
    let receipt = try TestData.decoded(path)
    let verifier = try verifier()
    var accepted: [Int] = []
    for position in stride(from: 0, to: receipt.count, by: 11) {
      var changed = receipt
      changed[position] ^= 0x10
      if verifier.refusal(of: changed, app: app) == nil { accepted.append(position) }
    }
    // The list of digests that are used, the root that the message brings, and the parameters that the
    // algorithms do not have: none of them has a say.
    let unheard = [26..<43, 4014..<5224, 5388..<5390, 5403..<5405]
    #expect(accepted.allSatisfy { position in unheard.contains { $0.contains(position) } }, "\(accepted)")
  }

  @Test(
    "Xcode's receipts are accepted only where the app allows them",
    arguments: [("xcode-app-receipt-empty", 0), ("xcode-app-receipt-with-transaction", 1)])
  func xcode(name: String, purchases: Int) throws {
    let receipt = try TestData.decoded("apple-asl/xcode/\(name)")
    let app = AppIdentity(bundleID: "com.example.naturelab.backyardbirds.example", appAppleID: nil)
    let verifier = try verifier()
    #expect(verifier.refusal(of: receipt, app: app, environments: [.sandbox]) == "XCODE_NOT_ALLOWED")
    #expect(verifier.refusal(of: receipt, environments: [.xcode]) == "WRONG_BUNDLE")
    let verified: Verified<AppReceiptPayload> = try verifier.verifyReceipt(
      receipt, for: app, environments: [.xcode])
    #expect(verified.signer == nil)
    #expect(verified.payload.receiptType == .xcode)
    #expect(verified.payload.purchases.map(\.transactionID) == Array(repeating: "0", count: purchases))
    #expect(verified.payload.expirationDate == Instant(rfc3339: "4001-01-01T00:00:00Z"))
  }

  @Test("The transaction receipt of Apple's libraries is decoded")
  func transactionReceipt() throws {
    let document = try TestData.decoded("apple-asl/mock_signed_data/legacyTransaction")
    #expect(try TransactionReceipt(parsing: document).transactionID == "33993399")
  }
}
