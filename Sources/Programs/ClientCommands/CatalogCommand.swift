internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled catalog`.
struct CatalogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalog", abstract: "List the products of an app with their prices.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Product ids (default: all).") var products: [String] = []

  func run() async throws {
    let request: GetCatalogRequest = try await options.request { $0.productIds = products }
    try await options.showPages(
      request, { try await $0.getCatalog($1) }, empty: "no products"
    ) { $0.products.flatMap(\.rows) }
  }
}

extension CatalogProduct {
  fileprivate var rows: [(String, String)] {
    let granted = entitlements.map { entitlement in
      entitlement.accessLevel == .limited ? "\(entitlement.name) (limited)" : entitlement.name
    }
    let group =
      subscriptionGroup.isEmpty ? "" : ", group \(subscriptionGroup), level \(subscriptionGroupLevel ?? 0)"
    return [(productId, "grants \(granted.isEmpty ? "nothing" : granted.joined(separator: ", "))\(group)")]
      + prices.map { ("  \($0.storefront)", $0.summary) }
  }
}

extension StorefrontPrice {
  fileprivate var summary: String {
    let reason = transactionReason.isEmpty ? "" : ", \(transactionReason.lowercased())"
    return "\(price?.text ?? "")\(reason), \(seenAt.text.prefix(10))"
  }
}
