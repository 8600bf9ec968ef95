import AppReceipt
import AppStore
import Entitlements
import JSON
import Ledger
import Testing

@testable import ReceiptMigration

@Suite("Contents of verified receipts") struct VerifiedReceiptTests {
  private static let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil),
    environments: [.production, .xcode],
    products: [
      ProductDefinition(productID: "monthly", type: .autoRenewableSubscription, entitlements: ["pro"])
    ])

  private static func at(_ day: Int64) -> Instant { Instant(millisecondsSince1970: day * 86_400_000) }

  private static func date(_ day: Int64) -> JSONValue { .string(String(at(day).millisecondsSince1970)) }

  @Test("A receipt of Xcode, which has no original transaction ids, is about its transaction ids")
  func xcode() throws {
    var content = ReceiptBuilder()
    content.add(12, Self.at(0))
    for id in ["0", "3"] {
      var purchase = ReceiptBuilder()
      purchase.add(1702, "monthly")
      purchase.add(1703, id)
      purchase.add(1704, Self.at(0))
      purchase.add(1708, Self.at(30))
      content.add(purchase: purchase)
    }
    let receipt = VerifiedReceipt(
      try AppReceiptPayload(parsing: content.content), [], environment: .xcode, of: Self.app)
    #expect(receipt.lines == ["3"])
    #expect(receipt.hasZeros && !receipt.hasOnlyZeros)
    #expect(receipt.contents(about: ["3"]).transactions.map(\.originalTransactionID) == ["3"])
  }

  // Apple, Receipt Fields: the receipts of apps from the Volume Purchase Program expire.
  @Test("The install of an organization's app lasts until its receipt expires")
  func volumePurchase() throws {
    func install(_ receipt: VerifiedReceipt) throws -> AppTransactionFact {
      try #require(ReceiptContents(receipt.contents(about: []).encoded)?.appTransaction)
    }
    for expires in [40, nil] as [Int64?] {
      var content = ReceiptBuilder()
      content.add(0, "ProductionVPP")
      content.add(12, Self.at(10))
      content.add(18, Self.at(5))
      content.add(19, "2.0")
      if let expires { content.add(21, Self.at(expires)) }
      let local = VerifiedReceipt(
        try AppReceiptPayload(parsing: content.content), [], environment: .production, of: Self.app)
      var json: JSONObject = [
        "receipt_creation_date_ms": Self.date(10), "original_purchase_date_ms": Self.date(5),
        "original_application_version": "2.0",
      ]
      json["expiration_date_ms"] = expires.map(Self.date)
      let response = try VerifyReceiptResponse(json: ["status": 0, "receipt": .object(json)])
      let remote = VerifiedReceipt(response, [], environment: .production, of: Self.app)
      let fact = try install(local)
      #expect(fact.receiptExpiresDate == expires.map(Self.at) && fact.originalApplicationVersion == "2.0")
      #expect(try install(remote) == fact)
    }
  }

  /// A response of `verifyReceipt` about one purchase, as it is stored.
  private static func transactions(
    created: Int64, requested: Int64, refunded: Int64? = nil
  ) throws -> [TransactionFact] {
    let original: JSONObject = [
      "transaction_id": "1", "original_transaction_id": "1", "product_id": "monthly",
      "purchase_date_ms": date(0), "expires_date_ms": date(30),
    ]
    var latest = original
    latest["cancellation_date_ms"] = refunded.map(date)
    let response = try VerifyReceiptResponse(json: [
      "status": 0,
      "receipt": [
        "bundle_id": "com.example", "receipt_creation_date_ms": date(created),
        "request_date_ms": date(requested), "in_app": [.object(original)],
      ],
      "latest_receipt_info": [.object(latest)],
    ])
    let receipt = VerifiedReceipt(response, [], environment: .production, of: app)
    return try #require(ReceiptContents(receipt.contents(about: ["1"]).encoded)).transactions
  }

  @Test("Of two responses of verifyReceipt the later one counts, whichever receipt is newer")
  func latestData() throws {
    let refunded = try Self.transactions(created: 10, requested: 100, refunded: 90)
    let cases = [
      (try Self.transactions(created: 60, requested: 70), Self.at(90)),
      (try Self.transactions(created: 10, requested: 120), nil),
    ]
    for (other, expected) in cases {
      for transactions in [refunded + other, other + refunded] {
        let facts = CustomerFacts(transactions: transactions)
        #expect(facts.transactions.map(\.revocationDate) == [expected])
      }
    }
  }
}
