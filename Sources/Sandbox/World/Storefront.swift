/// The App Store of one country, in which an account buys.
struct Storefront: Hashable, Sendable {
  /// ISO 3166-1, three letters.
  let code: String
  /// Apple's number for it.
  let id: String

  static let usa = Storefront(code: "USA", id: "143441")

  /// Those that a tester can choose.
  static let known = [
    usa, Storefront(code: "FRA", id: "143442"), Storefront(code: "DEU", id: "143443"),
    Storefront(code: "GBR", id: "143444"), Storefront(code: "CAN", id: "143455"),
    Storefront(code: "AUS", id: "143460"), Storefront(code: "JPN", id: "143462"),
    Storefront(code: "CHN", id: "143465"), Storefront(code: "KOR", id: "143466"),
    Storefront(code: "BRA", id: "143503"), Storefront(code: "IND", id: "143467"),
  ]
}
