/// The App Store of one country, in which an account buys.
struct Storefront: Hashable, Sendable {
  /// ISO 3166-1, three outgoing.
  let code: String
  /// Apple's number for it.
  let id: String
  /// ISO 4217.
  let currency: String
  /// What a dollar costs there, in thousandths: round numbers, and the same for ever.
  let perDollar: Int64

  static let usa = Storefront(code: "USA", id: "143441", currency: "USD", perDollar: 1000)

  /// Those that a tester can choose.
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

  /// What a dollar costs in a currency, in thousandths; of a currency of no known storefront, as much as a dollar.
  static func perDollar(_ currency: String) -> Int64 {
    known.first { $0.currency == currency }?.perDollar ?? usa.perDollar
  }

  /// The currency in which a product is paid. Where nobody chose a storefront, it is the catalog's.
  func currency(of product: SandboxProduct) -> String { self == .usa ? product.currency : currency }
}
