import AppStore
import JSON
import Testing

@Suite struct NotificationPayloadTests {
  private func object(_ text: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: text).objectValue)
  }

  @Test("An unknown notification type is preserved with all its members")
  func unknownType() throws {
    let payload = try ResponseBodyV2DecodedPayload(
      json: object(
        """
        {"notificationType": "TELEPORTED", "subtype": "SIDEWAYS", "version": "3.0",
         "teleportInfo": {"planet": "Mars"}, "data": {"status": 17, "environment": "Moon"}}
        """))
    #expect(payload.notificationType == .unrecognized("TELEPORTED"))
    #expect(payload.subtype == .unrecognized("SIDEWAYS"))
    #expect(payload.data?.status == .unrecognized(17))
    #expect(payload.data?.environment == nil)
    #expect(payload.json["teleportInfo"]?.objectValue?["planet"] == "Mars")
  }

  @Test("Both names of the Advanced Commerce migration are decoded")
  func migration() {
    #expect(NotificationTypeV2(rawValue: "MIGRATE") == .migrate)
    #expect(NotificationTypeV2(rawValue: "MIGRATION") == .migration)
  }

  @Test("All codes have distinct raw values")
  func distinct() {
    func expectDistinct<Code: OpenCode>(_: Code.Type) {
      #expect(Set(Code.known.map(\.rawValue)).count == Code.known.count)
      for code in Code.known { #expect(Code(rawValue: code.rawValue) == code) }
    }
    expectDistinct(NotificationTypeV2.self)
    expectDistinct(NotificationSubtype.self)
    expectDistinct(NotificationTypeV1.self)
    expectDistinct(VerifyReceiptStatus.self)
    expectDistinct(RevocationType.self)
    expectDistinct(AdditionalTransactionReason.self)
    expectDistinct(GroupType.self)
    expectDistinct(GroupRole.self)
    expectDistinct(SubscriptionStatus.self)
    expectDistinct(ConsumptionRequestReason.self)
  }

  @Test("Unclaimed seat ids are decoded")
  func seats() throws {
    let payload = try ResponseBodyV2DecodedPayload(
      json: object(
        """
        {"notificationType": "UNCLAIM_SEATS",
         "unclaimInfo": {"bundleId": "com.example", "environment": "Sandbox", "unclaimSeatIds": ["a", "b"]}}
        """))
    #expect(payload.notificationType == .unclaimSeats)
    #expect(payload.unclaimInfo?.unclaimSeatIds == ["a", "b"])
    #expect(payload.unclaimInfo?.environment == .sandbox)
  }

  @Test("The environment of an external purchase token follows from its id prefix")
  func externalPurchaseToken() throws {
    let sandbox = try ExternalPurchaseToken(
      json: ["externalPurchaseId": "SANDBOX_1", "tokenType": "SERVICES", "tokenExpirationDate": 5])
    #expect(sandbox.environment == .sandbox)
    #expect(sandbox.tokenType == .services)
    #expect(sandbox.tokenExpirationDate == Instant(millisecondsSince1970: 5))
    #expect(try ExternalPurchaseToken(json: ["externalPurchaseId": "1"]).environment == .production)
    #expect(try ExternalPurchaseToken(json: [:]).environment == nil)
  }
}

/// The sentence of every documented notification.
@Suite struct NotificationMeaningTests {
  /// All pairs of version 2 (App Store Server Notifications, notificationType and subtype).
  private static let pairs: [NotificationTypeV2: [NotificationSubtype?]] = [
    .subscribed: [.initialBuy, .resubscribe],
    .didChangeRenewalPref: [.upgrade, .downgrade, nil, .increaseQuantity, .decreaseQuantity],
    .didChangeRenewalStatus: [.autoRenewEnabled, .autoRenewDisabled],
    .offerRedeemed: [.upgrade, .downgrade, nil, .initialBuy, .resubscribe],
    .didRenew: [.billingRecovery, nil],
    .didFailToRenew: [.gracePeriod, nil],
    .expired: [.voluntary, .billingRetry, .priceIncrease, .productNotForSale, nil],
    .priceIncrease: [.pending, .accepted],
    .renewalExtension: [.summary, .failure],
    .refund: [nil, .seats],
    .externalPurchaseToken: [.created, .activeTokenReminder, .unreported],
    .gracePeriodExpired: [nil], .refundDeclined: [nil], .refundReversed: [nil], .consumptionRequest: [nil],
    .renewalExtended: [nil], .revoke: [nil], .oneTimeCharge: [nil], .rescindConsent: [nil],
    .metadataUpdate: [nil], .migration: [nil], .priceChange: [nil], .unclaimSeats: [nil], .test: [nil],
  ]

  private static func meaning(_ type: NotificationTypeV2, _ subtype: NotificationSubtype?) throws -> String {
    var json: JSONObject = ["notificationType": .string(type.rawValue)]
    json["subtype"] = subtype.map { .string($0.rawValue) }
    return try ResponseBodyV2DecodedPayload(json: json).meaning
  }

  @Test("Each pair of type and subtype has a distinct sentence")
  func pairs() throws {
    var sentences: [String: String] = [:]
    for (type, subtypes) in Self.pairs {
      for subtype in subtypes {
        let name = "\(type.rawValue) \(subtype?.rawValue ?? "")"
        let sentence = try Self.meaning(type, subtype)
        #expect(sentence.hasSuffix(".") && !sentence.contains("unknown to this version"), "\(name)")
        #expect(
          sentences.updateValue(name, forKey: sentence) == nil, "\(name) has the sentence of another pair")
      }
    }
    #expect(sentences.count == 45)
  }

  @Test("Every type and subtype is covered, and MIGRATE equals MIGRATION")
  func complete() throws {
    #expect(Set(Self.pairs.keys).union([.migrate]) == Set(NotificationTypeV2.known))
    #expect(try Self.meaning(.migrate, nil) == Self.meaning(.migration, nil))
    let used = Set(Self.pairs.values.joined().compactMap { $0 })
    #expect(used == Set(NotificationSubtype.known))
  }

  @Test("An unknown type is named with Apple's code")
  func unknown() throws {
    let sentence = try Self.meaning(.unrecognized("TELEPORTED"), .unrecognized("SIDEWAYS"))
    #expect(sentence == "The type TELEPORTED with SIDEWAYS is unknown to this version.")
    #expect(
      try Self.meaning(.unrecognized("TELEPORTED"), .upgrade)
        == "The type TELEPORTED with UPGRADE is unknown to this version.")
    // A known type does not say what an unknown subtype means.
    for type in NotificationTypeV2.known {
      #expect(
        try Self.meaning(type, .unrecognized("SIDEWAYS"))
          == "The type \(type.rawValue) with SIDEWAYS is unknown to this version.")
    }
  }

  @Test("Each version 1 type has a sentence", arguments: NotificationTypeV1.known)
  func firstVersion(type: NotificationTypeV1) throws {
    let body = try ResponseBodyV1(json: ["notification_type": .string(type.rawValue)])
    #expect(body.meaning.hasSuffix(".") && !body.meaning.contains("unknown to this version"))
  }
}
