import AppReceipt
import AppStore
import Bytes
import JSON
import SignedData
import Testing

/// Receipts for one transaction, from before iOS 7.
@Suite struct TransactionReceiptTests {
  private func receipt(_ info: String, around: (String) -> String) throws -> TransactionReceipt {
    let encoded = Base64.standard.encode(info.utf8)
    return try TransactionReceipt(parsing: Array(around(encoded).utf8))
  }

  private let info = """
    {
    \t"original-purchase-date-pst" = "2012-04-30 08:05:55 America/Los_Angeles";
    \t"original-transaction-id" = "1000000046178817";
    \t"bvrs" = "20120427";
    \t"transaction-id" = "1000000046178818";
    \t"quantity" = "1";
    \t"original-purchase-date-ms" = "1335798355868";
    \t"purchase-date-ms" = "1335798355999";
    \t"expires-date" = "1335801955999";
    \t"product-id" = "com.example.\\"coins\\"";
    \t"web-order-line-item-id" = "42";
    \t"bid" = "com.example";
    }
    """

  @Test("Every entry of a transaction receipt is decoded")
  func reading() throws {
    let receipt = try receipt(info) { info in
      """
      {
      \t"signature" = "AmVZ";
      \t"purchase-info" = "\(info)";
      \t"environment" = "Sandbox";
      \tpod = 100;
      \tsigning-status = 0;
      }

      """
    }
    #expect(receipt.environment == .sandbox)
    #expect(receipt.pod == "100" && receipt.signingStatus == "0" && receipt.hasSignature)
    #expect(receipt.transactionID == "1000000046178818")
    #expect(receipt.originalTransactionID == "1000000046178817")
    #expect(receipt.productID == "com.example.\"coins\"")
    #expect(receipt.bundleID == "com.example")
    #expect(receipt.purchaseDate == Instant(millisecondsSince1970: 1_335_798_355_999))
    #expect(receipt.expirationDate == Instant(millisecondsSince1970: 1_335_801_955_999))
    #expect(receipt.webOrderLineItemID == "42")
    #expect(receipt.json["purchase-info"]?.objectValue?["bvrs"] == "20120427")
    #expect(receipt.json["signature"] == true)
  }

  @Test(
    "Other property list forms are rejected",
    arguments: [
      "", "{", "{}", "[]", "{ a = b }", "{ a = b;", "{ a = b; } c", "{ = b; }", "{ a b; }", "{ a = ; }",
      "{ a = \"b; }", "{ a = \"\\n\"; purchase-info = \"\"; }", "{ a = { b = c; }; }", "{ a = (b); }",
      "{ a = 1; a = 1; purchase-info = \"\"; }", "{ purchase-info = \"?\"; }",
      "{ purchase-info = \"e30=\"; x }",
      "{\"signedPayload\": \"e30\"}",
    ])
  func refusals(text: String) {
    #expect(throws: AppReceiptError.self) { try TransactionReceipt(parsing: Array(text.utf8)) }
  }

  @Test("Malformed dates and invalid UTF-8 are rejected")
  func badContent() {
    #expect(throws: AppReceiptError.self) {
      try receipt("{ purchase-date-ms = soon; }") { "{ purchase-info = \"\($0)\"; }" }
    }
    #expect(throws: AppReceiptError.self) {
      try TransactionReceipt(parsing: Array("{ a = \"".utf8) + [0xFF] + Array("\"; }".utf8))
    }
  }

  @Test("A property list above the size or entry limit is rejected")
  func limits() {
    let entries = (0..<101).map { "k\($0) = v;" }.joined()
    #expect(throws: AppReceiptError.tooMany("entries", limit: 100)) {
      try TransactionReceipt(parsing: Array("{\(entries)}".utf8))
    }
    #expect(throws: AppReceiptError.tooMany("bytes", limit: 65_536)) {
      try TransactionReceipt(parsing: [UInt8](repeating: UInt8(ascii: "{"), count: 1 << 20))
    }
  }
}
