internal import AppStore

/// An offer for a subscription, as one would set it up in App Store Connect.
struct Offer: Hashable, Sendable {
  /// Its identifier; an introductory offer has none at Apple, and none is told about it.
  let id: String
  let type: OfferType
  let mode: OfferDiscountType
  /// How long a free trial or what is paid up front lasts. What is paid as you go lasts one period each time.
  let period: Period
  /// How many periods are paid as you go.
  let periods: Int
  /// In thousandths of the currency; nothing for a free trial.
  let price: Int64

  /// What Apple tells of the offer in a transaction or a renewal info.
  var identifier: String? { type == .introductory ? nil : id }
}

/// An offer in use: what is left of it after the period that runs.
struct ActiveOffer: Hashable, Sendable {
  let offer: Offer
  /// Further periods at the offer's price.
  var left: Int
}
