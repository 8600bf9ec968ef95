import AppStore
import JSON
import Testing

/// Every notification that Apple documents says in words what it means.
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

  @Test("Each pair of type and subtype has a sentence of its own")
  func pairs() throws {
    var sentences: [String: String] = [:]
    for (type, subtypes) in Self.pairs {
      for subtype in subtypes {
        let name = "\(type.rawValue) \(subtype?.rawValue ?? "")"
        let sentence = try Self.meaning(type, subtype)
        #expect(sentence.hasSuffix(".") && !sentence.contains("does not know"), "\(name)")
        #expect(sentences.updateValue(name, forKey: sentence) == nil, "\(name) says what another says")
      }
    }
    #expect(sentences.count == 45)
  }

  @Test("No type is left out, and Apple's other name for a migration means the same")
  func complete() throws {
    #expect(Set(Self.pairs.keys).union([.migrate]) == Set(NotificationTypeV2.known))
    #expect(try Self.meaning(.migrate, nil) == Self.meaning(.migration, nil))
    let used = Set(Self.pairs.values.joined().compactMap { $0 })
    #expect(used == Set(NotificationSubtype.known))
  }

  @Test("A type of tomorrow is named in Apple's words")
  func unknown() throws {
    let sentence = try Self.meaning(.unrecognized("TELEPORTED"), .unrecognized("SIDEWAYS"))
    #expect(sentence == "This version does not know the type TELEPORTED with SIDEWAYS.")
  }

  @Test("Version 1 has its words too", arguments: NotificationTypeV1.known)
  func firstVersion(type: NotificationTypeV1) throws {
    let body = try ResponseBodyV1(json: ["notification_type": .string(type.rawValue)])
    #expect(body.meaning.hasSuffix(".") && !body.meaning.contains("does not know"))
  }
}
