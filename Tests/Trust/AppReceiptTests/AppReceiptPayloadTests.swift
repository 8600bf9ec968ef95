import AppStore
import JSON
import SignedData
import Testing

@testable import AppReceipt

/// The contents of receipts, in all their encodings.
@Suite struct AppReceiptPayloadTests {
  private func receipt(_ fill: (inout ReceiptBuilder) -> Void) throws -> AppReceiptPayload {
    var builder = ReceiptBuilder()
    fill(&builder)
    return try AppReceiptPayload(parsing: builder.content)
  }

  @Test("Every receipt attribute survives encoding and decoding")
  func everyAttribute() throws {
    let dates = ([12, 18, 21] as [Int64]).map { Instant(millisecondsSince1970: $0 * 86_400_000) }
    let receipt = try receipt { builder in
      builder.add(0, "ProductionVPP")
      builder.add(1, 1_234_567_890)
      builder.add(2, "com.example")
      builder.add(3, "12.3")
      builder.add(4, bytes: [1, 2, 3])
      builder.add(5, bytes: [UInt8](repeating: 9, count: 20))
      for (type, date) in zip([12, 18, 21] as [Int64], dates) { builder.add(type, date) }
      builder.add(15, 77)
      builder.add(16, -1)
      builder.add(19, "1.0")
      builder.add(9999, bytes: [0xFF])
    }
    #expect(receipt.receiptType == .productionVPP)
    #expect(receipt.appItemID == 1_234_567_890)
    #expect(receipt.bundleID == "com.example")
    #expect(receipt.applicationVersion == "12.3")
    #expect(receipt.opaqueValue == [1, 2, 3])
    #expect(receipt.deviceHash?.count == 20)
    #expect([receipt.creationDate, receipt.originalPurchaseDate, receipt.expirationDate] == dates)
    #expect(receipt.downloadID == 77)
    #expect(receipt.versionExternalIdentifier == -1)
    #expect(receipt.originalApplicationVersion == "1.0")
    #expect(receipt.unknownAttributes == [ReceiptAttribute(type: 9999, value: [0xFF])])
    #expect(receipt.purchases.isEmpty)
  }

  @Test("Every purchase attribute survives encoding and decoding, and is in the JSON")
  func everyPurchaseAttribute() throws {
    let date = Instant(rfc3339: "2021-02-03T04:05:06Z")!
    var purchase = ReceiptBuilder()
    purchase.add(1701, 3)
    purchase.add(1702, "product")
    purchase.add(1703, "2")
    purchase.add(1705, "1")
    for type in [1704, 1706, 1708, 1712] as [Int64] { purchase.add(type, date) }
    purchase.add(1707, 1)
    purchase.add(1711, 88)
    purchase.add(1713, 1)
    purchase.add(1719, 0)
    purchase.add(1721, "offer")
    purchase.add(1799, "new")
    let read = try InAppPurchase(parsing: purchase.content)
    #expect(read.productType == .consumable)
    #expect(read.isInTrialPeriod == true && read.isInIntroductoryOfferPeriod == false)
    #expect(read.unknownAttributes.map(\.type) == [1799])
    let shown = read.json
    let expected: JSONObject = [
      "quantity": "3", "product_id": "product", "transaction_id": "2", "original_transaction_id": "1",
      "purchase_date": "2021-02-03 04:05:06 Etc/GMT", "purchase_date_ms": "1612325106000",
      "expires_date_ms": "1612325106000", "cancellation_date_ms": "1612325106000",
      "original_purchase_date_ms": "1612325106000", "web_order_line_item_id": "88",
      "is_trial_period": "true", "is_in_intro_offer_period": "false", "promotional_offer_id": "offer",
    ]
    for (name, value) in expected { #expect(shown[name] == value, "\(name)") }
    #expect(shown["unknown_attributes"] == [["type": 1799, "version": 1, "value": "DANuZXc="]])
  }

  @Test("An empty text is decoded as missing")
  func emptyTexts() throws {
    let receipt = try receipt { builder in
      builder.add(3, "")
      builder.add(21, "")
    }
    #expect(receipt.applicationVersion == nil && receipt.expirationDate == nil)
    #expect(receipt.attributes.count == 2)
  }

  @Test(
    "Dates are decoded with any offset, also without a colon",
    arguments: [
      ("2021-01-01T01:00:00+0100", "2021-01-01T00:00:00Z"),
      ("2021-01-01T01:00:00+01:00", "2021-01-01T00:00:00Z"),
      ("2020-12-31T19:30:00-0430", "2021-01-01T00:00:00Z"),
      ("2021-01-01T00:00:00Z", "2021-01-01T00:00:00Z"), ("2021-01-01", nil), ("0100", nil), ("+0100", nil),
      ("2021-13-01T00:00:00Z", nil), ("2021-01-01T00:00:00+01é0", nil), ("2021-01-01T00:00:00", nil),
    ])
  func dates(text: String, expected: String?) throws {
    let date = Instant(receiptDate: text)
    #expect(date == expected.flatMap(Instant.init(rfc3339:)))
    var builder = ReceiptBuilder()
    builder.add(12, text)
    if expected == nil {
      #expect(throws: AppReceiptError.wrongValue(attribute: 12, expected: "a date")) {
        try AppReceiptPayload(parsing: builder.content)
      }
    } else {
      #expect(try AppReceiptPayload(parsing: builder.content).creationDate == date)
    }
  }

  private static let noIntegers: [[UInt8]] = [
    [0x0C, 0x01, 0x41], [0x02, 0x09, 1, 1, 1, 1, 1, 1, 1, 1, 1], [0x02, 0x00], [],
  ]

  @Test(
    "An undocumented attribute of an unknown form is kept and does not reject the receipt",
    arguments: noIntegers)
  func unknownForms(value: [UInt8]) throws {
    let types: [Int64] = [1, 15, 16]
    var purchase = ReceiptBuilder()
    purchase.add(1702, "product")
    purchase.add(1707, bytes: value)
    purchase.add(1721, bytes: [0x0C, 0x02, 0xC3, 0x28])
    let receipt = try receipt { builder in
      builder.add(2, "com.example")
      for type in types { builder.add(type, bytes: value) }
      builder.add(purchase: purchase)
    }
    #expect(receipt.bundleID == "com.example")
    #expect(receipt.appItemID == nil && receipt.downloadID == nil && receipt.versionExternalIdentifier == nil)
    #expect(Set(receipt.unknownAttributes.map(\.type)) == Set(types))
    #expect(receipt.unknownAttributes.allSatisfy { $0.value == value })
    let read = try #require(receipt.purchases.first)
    #expect(read.productID == "product" && read.productType == nil && read.promotionalOfferID == nil)
    #expect(Set(read.unknownAttributes.map(\.type)) == [1707, 1721])
  }

  @Test("An attribute of the wrong type is rejected by its number")
  func wrongValues() throws {
    let cases: [(Int64, [UInt8], String)] = [
      (2, [0x02, 0x01, 0x05], "a text"), (2, [0x0C, 0x02, 0xC3, 0x28], "a text"), (2, [], "a text"),
      (2, [0x0C, 0x05, 0x41], "a text"),
    ]
    for (type, value, expected) in cases {
      #expect(throws: AppReceiptError.wrongValue(attribute: type, expected: expected)) {
        try receipt { $0.add(type, bytes: value) }
      }
    }
    for value in Self.noIntegers {
      #expect(throws: AppReceiptError.wrongValue(attribute: 1711, expected: "an integer")) {
        var purchase = ReceiptBuilder()
        purchase.add(1711, bytes: value)
        return try receipt { $0.add(purchase: purchase) }
      }
    }
    #expect(throws: AppReceiptError.wrongValue(attribute: 1713, expected: "0 or 1")) {
      var purchase = ReceiptBuilder()
      purchase.add(1713, 2)
      return try receipt { $0.add(purchase: purchase) }
    }
  }

  @Test(
    "Integers are written in as few bytes as they need", arguments: [0, 1, 127, 128, -128, -129, .max, .min])
  func integers(value: Int64) {
    let bytes = AttributeValue.encode(value)
    #expect(AttributeValue.integer(bytes) == value)
    #expect(
      bytes.count == 2 + max(1, (Int64.bitWidth - (value < 0 ? ~value : value).leadingZeroBitCount + 8) / 8))
  }

  @Test("Content in indefinite lengths and in OCTET STRINGs is decoded")
  func encodings() throws {
    let content = ReceiptChain.content().content
    let expected = try AppReceiptPayload(parsing: content)
    let inner = Array(content.dropFirst(content[1] < 0x80 ? 2 : content[1] == 0x81 ? 3 : 4))
    let indefinite = [0x31, 0x80] + inner + [0, 0]
    let half = content.count / 2
    let pieces =
      [0x24, 0x80] + AttributeValue.element(.octetString, Array(content[..<half]))
      + AttributeValue.element(.octetString, Array(content[half...])) + [0, 0]
    let once = AttributeValue.element(.octetString, content)
    let twice = AttributeValue.element(.octetString, once)
    for encoding in [content, indefinite, pieces, once, twice] {
      #expect(try AppReceiptPayload(parsing: encoding) == expected)
    }
    let often = (0..<5).reduce(content) { content, _ in AttributeValue.element(.octetString, content) }
    #expect(throws: AppReceiptError.self) { try AppReceiptPayload(parsing: often) }
  }

  @Test("A receipt inside an OCTET STRING is decoded")
  func wrappedReceipt() throws {
    let chain = try ReceiptChain()
    let verifier = try chain.verifier()
    let once = AttributeValue.element(
      .octetString, try chain.signer.sign(content: ReceiptChain.content().content))
    #expect(verifier.refusal(of: once) == nil)
    #expect(
      verifier.refusal(of: AttributeValue.element(.octetString, once)) == "NOT_A_RECEIPT")
  }

  @Test("A receipt matches only the device that its hash covers")
  func device() throws {
    let device: [UInt8] = [1, 2, 3, 4, 5, 6]
    let bundle = AttributeValue.encode("com.example")
    let hash = try SHA1.hash(device + [7, 7] + bundle)
    let mine = try receipt { builder in
      builder.add(2, "com.example")
      builder.add(4, bytes: [7, 7])
      builder.add(5, bytes: hash)
    }
    #expect(try mine.isFor(device: device))
    #expect(try !mine.isFor(device: [1, 2, 3, 4, 5]))
    #expect(try !receipt { $0.add(2, "com.example") }.isFor(device: device))
  }
}
