import AppReceipt
import AppStore
import SignedData
import TestSupport

/// A chain shaped like that of Apple's receipts, or with one defect, and receipts signed with it.
struct ReceiptChain {
  private let chain: TestChain

  static let start = Instant(rfc3339: "2020-01-01T00:00:00Z")!
  static let end = Instant(rfc3339: "2022-01-01T00:00:00Z")!
  static let middle = Instant(rfc3339: "2021-01-01T00:00:00Z")!

  init(
    name: String = "Test", markedIntermediate: Bool = true, markedLeaf: Bool = true,
    key: SigningKey? = nil
  ) throws {
    chain = try TestChain(
      name: name, markedIntermediate: markedIntermediate, markedLeaf: markedLeaf, leafKey: key,
      from: Self.start, until: Self.end)
  }

  var root: Certificate { chain.root }
  var intermediate: Certificate { chain.intermediate }
  var leaf: Certificate { chain.leaf }
  var key: SigningKey { chain.leafKey }
  var signer: ReceiptSigner { chain.receiptSigner }

  func verifier(for environment: Environment = .sandbox) throws -> SignedDataVerifier {
    try chain.verifier(for: environment)
  }

  /// A receipt's content with one purchase; `nil` leaves an attribute out.
  static func content(
    type: String? = "ProductionSandbox", bundle: String? = "com.example", created: Instant? = middle
  ) -> ReceiptBuilder {
    var receipt = ReceiptBuilder()
    if let type { receipt.add(0, type) }
    if let bundle { receipt.add(2, bundle) }
    if let created { receipt.add(12, created) }
    receipt.add(3, "7")
    var purchase = ReceiptBuilder()
    purchase.add(1702, "com.example.yearly")
    purchase.add(1703, "20000001")
    receipt.add(purchase: purchase)
    return receipt
  }
}

extension SignedDataVerifier {
  /// The code for why a receipt is refused, or `nil` if it is not.
  func refusal(
    of receipt: [UInt8], app: AppIdentity = exampleApp, environments: Set<Environment> = [.sandbox]
  ) -> String? {
    do throws(VerificationError) {
      let _: Verified<AppReceiptPayload> = try verifyReceipt(receipt, for: app, environments: environments)
      return nil
    } catch { return error.reason }
  }
}
