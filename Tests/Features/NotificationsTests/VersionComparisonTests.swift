import AppStore
import JSON
import Testing

@testable import Notifications

@Suite struct VersionComparisonTests {
  private let begin = 1_700_000_000_000
  private let end = 1_702_592_000_000

  private func version1(
    _ type: String, expires: Int? = nil, cancelled: Int? = nil, isUpgraded: Bool = false,
    willRenew: String = "1"
  ) throws -> ResponseBodyV1 {
    var transaction: JSONObject = [
      "transaction_id": "10", "original_transaction_id": "10", "product_id": "pro",
      "purchase_date_ms": .string("\(begin)"), "expires_date_ms": .string("\(expires ?? end)"),
    ]
    if let cancelled { transaction["cancellation_date_ms"] = .string("\(cancelled)") }
    if isUpgraded { transaction["is_upgraded"] = "true" }
    let renewal: JSONObject = [
      "original_transaction_id": "10", "auto_renew_product_id": "pro",
      "auto_renew_status": .string(willRenew),
    ]
    return try ResponseBodyV1(json: [
      "notification_type": .string(type),
      "unified_receipt": [
        "latest_receipt_info": [.object(transaction)], "pending_renewal_info": [.object(renewal)],
      ],
    ])
  }

  private func version2(
    _ type: String, _ subtype: String? = nil, expires: Int? = nil, revoked: Int? = nil,
    isUpgraded: Bool? = nil, isShared: Bool = false, signed: Int = 5
  ) throws -> (ResponseBodyV2DecodedPayload, JWSTransactionDecodedPayload, JWSRenewalInfoDecodedPayload) {
    var payload: JSONObject = ["notificationType": .string(type)]
    if let subtype { payload["subtype"] = .string(subtype) }
    var transaction: JSONObject = [
      "transactionId": "10", "originalTransactionId": "10", "productId": "pro",
      "type": "Auto-Renewable Subscription", "purchaseDate": .number(JSONNumber(Int64(begin))),
      "expiresDate": .number(JSONNumber(Int64(expires ?? end))),
      "signedDate": .number(JSONNumber(Int64(signed))),
    ]
    if let revoked { transaction["revocationDate"] = .number(JSONNumber(Int64(revoked))) }
    if let isUpgraded { transaction["isUpgraded"] = .bool(isUpgraded) }
    if isShared { transaction["inAppOwnershipType"] = "FAMILY_SHARED" }
    let renewal: JSONObject = [
      "originalTransactionId": "10", "autoRenewProductId": "pro", "autoRenewStatus": 1,
      "signedDate": .number(JSONNumber(Int64(signed))),
    ]
    return (
      try ResponseBodyV2DecodedPayload(json: payload), try JWSTransactionDecodedPayload(json: transaction),
      try JWSRenewalInfoDecodedPayload(json: renewal)
    )
  }

  private func compare(
    _ old: [ResponseBodyV1],
    _ new: [(ResponseBodyV2DecodedPayload, JWSTransactionDecodedPayload, JWSRenewalInfoDecodedPayload)]
  ) -> VersionComparison {
    var (version1, version2) = (PurchaseSummary(), PurchaseSummary())
    for body in old { version1.add(body, about: "10") }
    for (payload, transaction, renewal) in new { version2.add(payload, transaction, renewal) }
    return VersionComparison(version1: version1, version2: version2)
  }

  @Test("Equal notifications have no differences")
  func same() throws {
    let comparison = compare([try version1("INITIAL_BUY")], [try version2("SUBSCRIBED", "INITIAL_BUY")])
    #expect(!comparison.differs)
    #expect(comparison.differences.isEmpty)
  }

  @Test(
    "The words of version 2 are those of version 1",
    arguments: [
      ("SUBSCRIBED", "RESUBSCRIBE", ["INTERACTIVE_RENEWAL"]),
      ("SUBSCRIBED", "RESUBSCRIBE", ["DID_CHANGE_RENEWAL_STATUS"]),
      ("OFFER_REDEEMED", "RESUBSCRIBE", ["INTERACTIVE_RENEWAL", "DID_CHANGE_RENEWAL_STATUS"]),
      ("DID_CHANGE_RENEWAL_PREF", "UPGRADE", ["CANCEL", "INTERACTIVE_RENEWAL"]),
      ("DID_CHANGE_RENEWAL_PREF", "UPGRADE", ["DID_CHANGE_RENEWAL_STATUS", "INTERACTIVE_RENEWAL"]),
      ("OFFER_REDEEMED", "UPGRADE", ["INTERACTIVE_RENEWAL"]),
      ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", ["DID_CHANGE_RENEWAL_PREF"]),
      ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", ["DID_CHANGE_RENEWAL_STATUS"]),
      ("DID_RENEW", "BILLING_RECOVERY", ["RENEWAL"]),
      ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", ["DID_FAIL_TO_RENEW"]),
      ("PRICE_INCREASE", "PENDING", ["PRICE_INCREASE_CONSENT"]),
      ("REFUND", "", ["CANCEL"]), ("REFUND", "", ["CANCEL", "DID_CHANGE_RENEWAL_STATUS"]),
      ("REVOKE", "", ["REVOKE"]),
      ("CONSUMPTION_REQUEST", "", ["CONSUMPTION_REQUEST"]), ("EXPIRED", "VOLUNTARY", []),
    ])
  func words(type: String, subtype: String, words: [String]) throws {
    let summaries = try version2(type, subtype.isEmpty ? nil : subtype)
    let first = try version1("DID_RENEW")
    let comparison = compare(
      try [first] + words.map { try version1($0) }, [try version2("DID_RENEW"), summaries])
    #expect(comparison.onlyInVersion1.isEmpty)
    #expect(comparison.onlyInVersion2.isEmpty)
    #expect(comparison.newInVersion2 == (words.isEmpty ? ["EXPIRED/VOLUNTARY"] : []))
    #expect(!comparison.differs)
  }

  @Test("A changed renewal status of version 1 is explained by its cause or by one of version 2, once")
  func renewalStatus() throws {
    func compared(_ old: [String], _ new: [(String, String)]) throws -> VersionComparison {
      compare(try old.map { try version1($0) }, try new.map { try version2($0.0, $0.1) })
    }
    let ended = try compared(["DID_CHANGE_RENEWAL_STATUS"], [("EXPIRED", "BILLING_RETRY")])
    #expect(!ended.differs && ended.newInVersion2 == ["EXPIRED/BILLING_RETRY"])
    let expired = try compared(["DID_CHANGE_RENEWAL_STATUS"], [("EXPIRED", "VOLUNTARY")])
    #expect(expired.onlyInVersion1 == ["DID_CHANGE_RENEWAL_STATUS"])
    let changes = [("SUBSCRIBED", "RESUBSCRIBE"), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")]
    for changes in [changes, changes.reversed()] {
      let missing = try compared(["DID_CHANGE_RENEWAL_STATUS"], changes)
      #expect(missing.onlyInVersion1.isEmpty && missing.onlyInVersion2 == ["INTERACTIVE_RENEWAL"])
    }
    let extra = try compared(
      ["CANCEL", "DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_STATUS"], [("REFUND", "VOLUNTARY")])
    #expect(extra.onlyInVersion1 == ["DID_CHANGE_RENEWAL_STATUS"] && extra.onlyInVersion2.isEmpty)
  }

  @Test("A family member gets only some types of version 1")
  func familyMember() throws {
    let shared = [
      try version2("SUBSCRIBED", "INITIAL_BUY", isShared: true),
      try version2("PRICE_INCREASE", "PENDING", isShared: true), try version2("DID_RENEW", isShared: true),
      try version2("REVOKE", isShared: true),
    ]
    let all = compare([try version1("DID_RENEW"), try version1("REVOKE")], shared)
    #expect(!all.differs && all.newInVersion2 == ["SUBSCRIBED/INITIAL_BUY", "PRICE_INCREASE/PENDING"])
    #expect(compare([try version1("DID_RENEW")], shared).onlyInVersion2 == ["REVOKE"])
  }

  @Test("Only version 1 dates the end of an upgraded period")
  func upgraded() throws {
    let comparison = compare(
      [try version1("INTERACTIVE_RENEWAL", cancelled: begin + 1_000, isUpgraded: true)],
      [try version2("DID_CHANGE_RENEWAL_PREF", "UPGRADE", isUpgraded: true)])
    #expect(!comparison.differs)
  }

  @Test("A value that differs is reported with both versions")
  func different() throws {
    let comparison = compare(
      [try version1("INITIAL_BUY", willRenew: "0"), try version1("CANCEL", cancelled: begin + 1_000)],
      [try version2("SUBSCRIBED", "INITIAL_BUY", expires: end + 1_000)])
    #expect(comparison.differs)
    #expect(comparison.onlyInVersion1 == ["CANCEL"])
    #expect(comparison.differences.map(\.field) == ["expiresDate", "revocationDate"])
    #expect(comparison.differences.first?.version1 == "2023-12-14T22:13:20.000Z")
    #expect(comparison.differences.first?.version2 == "2023-12-14T22:13:21.000Z")
    #expect(comparison.differences.last?.version2 == "")
  }

  @Test("The notification of version 2 signed last decides, in any order")
  func order() throws {
    let summaries = [
      try version2("REFUND", revoked: begin, signed: 9), try version2("SUBSCRIBED", "INITIAL_BUY", signed: 5),
    ]
    let old = [try version1("INITIAL_BUY"), try version1("CANCEL", cancelled: begin)]
    #expect(!compare(old, summaries).differs)
    #expect(!compare(old, summaries.reversed()).differs)
  }

  @Test("A purchase reported by one version alone differs, without a list of values")
  func alone() throws {
    let first = compare([try version1("INITIAL_BUY")], [])
    let second = compare([], [try version2("SUBSCRIBED")])
    #expect(first.differs && second.differs)
    #expect(first.differences.isEmpty && second.differences.isEmpty)
    #expect(first.onlyInVersion1 == ["INITIAL_BUY"])
    #expect(second.onlyInVersion2 == ["INITIAL_BUY"])
  }
}
