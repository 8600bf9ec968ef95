package import JSON

/// The seats of a transaction (API 1.23).
package struct TransactionMultiSeatInfo: DecodedPayload {
  package let json: JSONObject

  /// Whether Apple or the developer assigns the seats.
  package let invitationManagement: InvitationManagement?
  /// In no particular order.
  package let priceTiers: [MultiSeatPriceTier]?
  /// The number of refunded seats; the transaction is refunded only if all of its seats are.
  package let revokedSeatQuantity: Int64?

  /// The price of all seats together in milliunits of the currency; `nil` without complete tiers.
  package var totalPrice: Int64? {
    guard let priceTiers, !priceTiers.isEmpty else { return nil }
    var total: Int64 = 0
    for tier in priceTiers {
      guard let price = tier.tierPrice, let quantity = tier.tierQuantity else { return nil }
      let (product, isTooLarge) = price.multipliedReportingOverflow(by: quantity)
      let (sum, overflow) = total.addingReportingOverflow(product)
      guard !isTooLarge, !overflow else { return nil }
      total = sum
    }
    return total
  }

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    invitationManagement = try json.code("invitationManagement")
    priceTiers = try json.parts("priceTiers")
    revokedSeatQuantity = try json.integer("revokedSeatQuantity")
  }
}

/// The seats of the next period (API 1.23).
package struct RenewalMultiSeatInfo: DecodedPayload {
  package let json: JSONObject

  /// In no particular order.
  package let renewalPriceTiers: [MultiSeatPriceTier]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    renewalPriceTiers = try json.parts("renewalPriceTiers")
  }
}

/// A price tier for seats. Pricing is graduated: a tier sets the price of the seats within it only (WWDC26-391).
package struct MultiSeatPriceTier: DecodedPayload {
  package let json: JSONObject

  /// The price of one seat in milliunits of the currency.
  package let tierPrice: Int64?
  /// The number of seats in this tier.
  package let tierQuantity: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    tierPrice = try json.integer("tierPrice")
    tierQuantity = try json.integer("tierQuantity")
  }
}
