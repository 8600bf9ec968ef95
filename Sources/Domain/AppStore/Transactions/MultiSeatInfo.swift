package import JSON

/// The seats that a transaction bought (API 1.23).
package struct TransactionMultiSeatInfo: DecodedPayload {
  package let json: JSONObject

  package let invitationManagement: InvitationManagement?
  /// In no guaranteed order.
  package let priceTiers: [MultiSeatPriceTier]?
  /// Seats that were refunded; the transaction itself was not.
  package let revokedSeatQuantity: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    invitationManagement = try reader.code("invitationManagement")
    priceTiers = try reader.parts("priceTiers")
    revokedSeatQuantity = try reader.integer("revokedSeatQuantity")
  }
}

/// The seats that a subscription will renew with (API 1.23).
package struct RenewalMultiSeatInfo: DecodedPayload {
  package let json: JSONObject

  /// In no guaranteed order.
  package let renewalPriceTiers: [MultiSeatPriceTier]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    renewalPriceTiers = try reader.parts("renewalPriceTiers")
  }
}

/// So many seats at this price each.
package struct MultiSeatPriceTier: DecodedPayload {
  package let json: JSONObject

  /// Of one seat, in thousandths of the currency.
  package let tierPrice: Int64?
  package let tierQuantity: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    tierPrice = try reader.integer("tierPrice")
    tierQuantity = try reader.integer("tierQuantity")
  }
}
