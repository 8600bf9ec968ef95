import AppStore
import JSON
import Testing

@testable import Sandbox

@Suite struct CommerceValidationTests {
  private static let refund: JSONObject = [
    "refundReason": "OTHER", "refundType": "FULL", "refundRiskingPreference": true,
  ]
  private static let words: JSONObject = ["description": "All films", "displayName": "Films"]

  private func isValid(_ request: World.CommerceRequest, _ body: JSONObject) -> Bool {
    (try? CommerceValidation.check(request, body)) != nil
  }

  @Test("A revocation requires a known reason, a refund type and a risk preference")
  func revocation() {
    #expect(isValid(.revoke, Self.refund))
    for name in ["refundReason", "refundType", "refundRiskingPreference"] {
      var body = Self.refund
      body[name] = name == "refundReason" ? "MOOD" : nil
      #expect(!isValid(.revoke, body), "\(name)")
    }
    var custom = Self.refund
    custom["refundType"] = "CUSTOM"
    #expect(!isValid(.revoke, custom), "a custom refund needs an amount")
    custom["refundAmount"] = 100
    #expect(isValid(.revoke, custom))
  }

  @Test("A refund request requires items that say whether they are revoked")
  func refundRequest() {
    var item = Self.refund
    item["SKU"] = "a"
    #expect(!isValid(.requestRefund, ["items": [.object(item)], "refundRiskingPreference": true]))
    item["revoke"] = true
    #expect(isValid(.requestRefund, ["items": [.object(item)], "refundRiskingPreference": true]))
    #expect(!isValid(.requestRefund, ["items": [], "refundRiskingPreference": true]))
  }

  @Test("A migration requires the product, the tax code, descriptions and items")
  func migration() {
    var item = Self.words
    item["SKU"] = "a"
    let body: JSONObject = [
      "targetProductId": "films", "taxCode": "C003", "descriptors": .object(Self.words),
      "items": [.object(item)],
    ]
    #expect(isValid(.migrate, body))
    for name in ["targetProductId", "taxCode", "descriptors", "items"] {
      var changed = body
      changed[name] = nil
      #expect(!isValid(.migrate, changed), "\(name)")
    }
  }

  @Test("A change of metadata names when it takes effect")
  func metadata() {
    #expect(!isValid(.changeMetadata, [:]))
    #expect(isValid(.changeMetadata, ["taxCode": "C003"]))
    #expect(isValid(.changeMetadata, ["items": [["currentSKU": "a", "effective": "NEXT_BILL_CYCLE"]]]))
    #expect(!isValid(.changeMetadata, ["items": [["currentSKU": "a", "effective": "SOON"]]]))
  }

  @Test("The prices of a change are in a range whose sum is a number")
  func prices() {
    func change(_ prices: Int64...) -> JSONObject {
      ["items": .array(prices.map { ["SKU": "a", "price": JSONValue($0)] })]
    }
    #expect(isValid(.changePrice, change(5_990, 0)))
    #expect(!isValid(.changePrice, change()))
    #expect(!isValid(.changePrice, change(5_990, -1)))
    #expect(!isValid(.changePrice, change(.max, .max)))
  }

  @Test("A token without a type, or of an in-app purchase, cannot be reported as a duplicate")
  func duplicates() {
    func token(_ kind: ExternalToken.Kind?) -> ExternalToken {
      ExternalToken(
        app: "app", id: "SANDBOX_1", kind: kind, created: .init(millisecondsSince1970: 0), expires: nil)
    }
    let report: JSONObject = ["externalPurchaseId": "SANDBOX_1", "status": "DUPLICATE_TOKEN"]
    for kind in [nil, ExternalToken.Kind.inApp, .linkOut] {
      #expect(throws: ServerAPIError.duplicateTokenStatusNotAllowed) {
        try ExternalReportValidation.check(report, of: token(kind))
      }
    }
    for kind in [ExternalToken.Kind.acquisition, .services] {
      #expect((try? ExternalReportValidation.check(report, of: token(kind))) != nil)
    }
    #expect((try? ExternalReportValidation.check(report, of: nil)) != nil, "a token that is not known here")
  }

  @Test("An image with a list of transparent colors is transparent")
  func transparentColors() throws {
    let header: [UInt8] =
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
      + [0, 0, 0x0F, 0, 0, 0, 0, 0xA0, 8, 3, 0, 0, 0, 0, 0, 0, 0]
    let plain = try #require(RetentionImageFile(header))
    #expect(plain.width == 3840 && plain.height == 160 && !plain.isTransparent)
    #expect(plain.isAccepted(as: "FULL_SIZE"))
    let colors = try #require(
      RetentionImageFile(header + [0, 0, 0, 1] + Array("tRNS".utf8) + [0, 0, 0, 0, 0]))
    #expect(colors.isTransparent && !colors.isAccepted(as: "BULLET_POINT"))
    #expect(RetentionImageFile(Array(header.prefix(20))) == nil)
  }
}
