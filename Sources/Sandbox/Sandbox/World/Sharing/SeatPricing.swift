internal import AppStore

/// A number of seats at one price (Apple: MultiSeatPriceTier).
struct SeatPriceTier: Hashable, Sendable {
  /// The price of one seat, in thousandths of the currency.
  let price: Int64
  let quantity: Int64
}

/// A volume discount: the price of the seats beyond a number of seats.
struct PriceBand: Hashable, Sendable {
  /// The number of seats before the band.
  let after: Int64
  /// The price of one seat, in thousandths of the catalog's currency.
  let price: Int64

  /// The number of bands in App Store Connect, including the product's price (WWDC26-391).
  static let maxCount = 5
}

/// The seats of one transaction (Apple: TransactionMultiSeatInfo).
struct SeatInfo: Hashable, Sendable {
  /// The setting at the time of the purchase. Later settings apply to new purchases and resubscriptions only
  /// (Apple: invitationManagement).
  let invitations: InvitationManagement
  let tiers: [SeatPriceTier]
  /// The number of refunded seats; only the purchaser's transaction has it (Apple: revokedSeatQuantity).
  var revoked: Int64 = 0
}

extension [SeatPriceTier] {
  /// The average price of a seat, rounded half up: the `price` of a transaction with seats (Apple:
  /// TransactionMultiSeatInfo).
  var averagePrice: Int64 {
    let seats = reduce(0) { $0 + $1.quantity }
    guard seats > 0 else { return 0 }
    return (reduce(0) { $0 + $1.price * $1.quantity } + seats / 2) / seats
  }
}

extension World {
  /// Returns the prices of the seats with the numbers in `seats`, counted from 0.
  ///
  /// Bands are graduated: a band's price applies to the seats in it only (StoreKit: Transaction.MultiSeatInfo.priceTiers;
  /// WWDC26-391). An offer has one price for all seats.
  ///
  /// - price: the price of a seat in the first band, in the storefront's currency.
  func priceTiers(
    of seats: Range<Int64>, _ product: SandboxProduct, in app: String, at storefront: Storefront,
    price: Int64, offer: Offer? = nil
  ) -> [SeatPriceTier] {
    if let offer {
      return [SeatPriceTier(price: offer.price, quantity: seats.upperBound - seats.lowerBound)]
    }
    let discounts = (settings[app]?.priceBands[product.productId] ?? []).map { band in
      PriceBand(after: band.after, price: converted(band.price, of: product, to: storefront))
    }
    let bands = [PriceBand(after: 0, price: price)] + discounts
    return bands.indices.compactMap { index in
      let end = index + 1 < bands.count ? bands[index + 1].after : .max
      let part = (bands[index].after..<end).clamped(to: seats)
      return part.isEmpty
        ? nil : SeatPriceTier(price: bands[index].price, quantity: part.upperBound - part.lowerBound)
    }
  }

  /// Returns the prices of a purchaser's seats at the next renewal; empty unless it is a multiseat purchase.
  func renewalPriceTiers(of line: SubscriptionLine) -> [SeatPriceTier] {
    guard line.source == nil, line.invitations != nil,
      let product = product(line.renewalProductID, of: line.app)
    else { return [] }
    return priceTiers(
      of: 0..<line.renewalQuantity, product, in: line.app, at: accounts[line.account]?.storefront ?? .usa,
      price: line.nextCharge.price, offer: line.nextOffer)
  }
}

extension Parameters {
  /// Reads price bands such as `20:13990,40:10990`: from the 21st seat 13.99, from the 41st 10.99. An absent member
  /// means no bands.
  func priceBands(_ member: String) throws(ActionError) -> [PriceBand] {
    guard let text = try stringIfPresent(member) else { return [] }
    var bands: [PriceBand] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let numbers = part.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
      guard numbers.count == 2, let after = numbers[0], let price = numbers[1],
        after > bands.last?.after ?? 0, (0...1_000_000_000).contains(price),
        bands.count + 1 < PriceBand.maxCount
      else {
        throw .wrongType(
          member: member,
          expected: "at most \(PriceBand.maxCount - 1) ascending bands such as 20:13990,40:10990")
      }
      bands.append(PriceBand(after: after, price: price))
    }
    return bands
  }
}
