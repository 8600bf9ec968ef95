internal import AppStore
internal import Entitlements

extension SaleTerms {
  init(
    _ members: ConfigurationNode.Members, _ product: ProductDefinition
  ) throws(ConfigurationError) {
    price = try members["price"].map(milliunits)
    currency = try members["currency"].map(Self.currency)
    period = try members["period"].map(Period.init)
    if let node = members["price"], currency == nil {
      throw node.error("\(node.name) is given, and no currency")
    }
  }

  private static func currency(_ node: ConfigurationNode) throws(ConfigurationError) -> String {
    let text = try node.text()
    guard text.utf8.count == 3, text.utf8.allSatisfy((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains)
    else { throw node.error("\(node.name) is not a currency code such as USD") }
    return text
  }
}

/// A price such as `4.99` in thousandths, without passing through a floating point number.
private func milliunits(_ node: ConfigurationNode) throws(ConfigurationError) -> Int64 {
  let parts = try node.text().split(separator: ".", omittingEmptySubsequences: false)
  let decimals = parts.count == 2 ? parts[1] : ""
  let digits = (parts.first ?? "") + decimals + String(repeating: "0", count: max(0, 3 - decimals.count))
  guard parts.count <= 2, parts.count == 1 || !decimals.isEmpty, decimals.count <= 3,
    (4...15).contains(digits.count), digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
    let number = Int64(digits)
  else { throw node.error("\(node.name) is not a price such as 4.99, with at most three decimals") }
  return number
}
