internal import AppStore

/// Prices and storefronts.
extension World {
  /// Returns an account's current price in thousandths of its storefront's currency: the storefront's own
  /// price, or the catalog's price at a fixed exchange rate.
  func price(
    of product: SandboxProduct, _ plan: BillingPlan = .billedUpfront, in app: String, for account: String
  ) -> Int64 {
    price(of: product, plan, in: app, at: accounts[account]?.storefront ?? .usa)
  }

  /// Returns the current price in a storefront; with the monthly plan, that of one payment.
  func price(
    of product: SandboxProduct, _ plan: BillingPlan = .billedUpfront, in app: String,
    at storefront: Storefront
  ) -> Int64 {
    let (prices, catalogPrice) =
      switch plan {
      case .billedUpfront: (settings[app]?.prices, product.price)
      case .monthly: (settings[app]?.monthlyPrices, product.monthlyPrice)
      }
    if let price = prices?.byStorefront[storefront.code]?[product.productId] { return price }
    // A product without any price cannot be bought, see `check`.
    return converted(prices?.everywhere[product.productId] ?? catalogPrice ?? 0, of: product, to: storefront)
  }

  /// Converts a price of the catalog to the currency of a storefront.
  func converted(_ price: Int64, of product: SandboxProduct, to storefront: Storefront) -> Int64 {
    guard storefront.currency(of: product) != product.currency else { return price }
    return price * storefront.perDollar / Storefront.perDollar(product.currency)
  }

  /// Moves an account to another storefront, which applies to its purchases and renewals from now on. A pending price
  /// increase ends, because the price is another one.
  mutating func move(_ account: String, to storefront: Storefront) {
    accounts[account, default: AppleAccount()].storefront = storefront
    for app in apps {
      for var line in subscriptions(of: account, in: app.id) where line.source == nil && line.isRunning {
        guard let product = product(line.renewalProductID, of: app.id) else { continue }
        line.renewalPrice = price(of: product, line.renewalPlan, in: app.id, for: account)
        line.priceIncrease = nil
        if line.commitment != nil, let committed = self.product(line.productID, of: app.id) {
          line.commitment?.price = price(of: committed, .monthly, in: app.id, for: account)
        }
        put(line)
      }
    }
  }
}

/// A country's App Store.
struct Storefront: Hashable, Sendable {
  /// ISO 3166-1 alpha-3.
  let code: String
  /// Apple's `storefrontId`.
  let id: String
  /// ISO 4217.
  let currency: String
  /// The fixed exchange rate: thousandths of the currency per dollar.
  let perDollar: Int64

  static let usa = Storefront(code: "USA", id: "143441", currency: "USD", perDollar: 1000)

  /// The supported storefronts.
  static let known = [
    usa,
    Storefront(code: "FRA", id: "143442", currency: "EUR", perDollar: 1000),
    Storefront(code: "DEU", id: "143443", currency: "EUR", perDollar: 1000),
    Storefront(code: "GBR", id: "143444", currency: "GBP", perDollar: 1000),
    Storefront(code: "CAN", id: "143455", currency: "CAD", perDollar: 1400),
    Storefront(code: "AUS", id: "143460", currency: "AUD", perDollar: 1500),
    Storefront(code: "JPN", id: "143462", currency: "JPY", perDollar: 150_000),
    Storefront(code: "CHN", id: "143465", currency: "CNY", perDollar: 7000),
    Storefront(code: "KOR", id: "143466", currency: "KRW", perDollar: 1_300_000),
    Storefront(code: "BRA", id: "143503", currency: "BRL", perDollar: 5000),
    Storefront(code: "IND", id: "143467", currency: "INR", perDollar: 80_000),
  ]

  /// Returns the exchange rate of a currency in thousandths per dollar; 1000 for an unknown currency.
  static func perDollar(_ currency: String) -> Int64 {
    known.first { $0.currency == currency }?.perDollar ?? usa.perDollar
  }

  /// The currency of a product's price; in the default storefront the catalog's currency.
  func currency(of product: SandboxProduct) -> String { self == .usa ? product.currency : currency }
}
