internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The products of an app, the entitlements that they grant, and the problems of both.
enum CatalogPage {
  /// `GET …/catalog`: at most 200 products on a page, with the problems of the entries on it.
  static func page(in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let catalog = try await visit.call(
      Calls.getCatalog,
      .about(scope) {
        $0.pageSize = 200
        $0.pageToken = visit.value("page") ?? ""
      })
    let next = Part.next(catalog.nextPageToken) {
      Link(scope.path + ["catalog"], query: [("page", $0)])
    }
    let products = Table.markup(
      Text.catalog,
      heads: [
        Text.productHead, Text.type, Text.group, Text.groupLevel, Text.duration, Text.grants, Text.price,
        Text.offers,
        Text.seenPrices,
      ], rows: catalog.products.map(cells))
    return Page(
      Text.catalog, in: scope, section: .status,
      body: """
        <h1>\(Text.catalog)</h1>
        <p>\(Text.catalogHint) <code>\(catalog.catalogFingerprint)</code></p>
        \(catalog.products.isEmpty ? Part.empty(Text.noProducts) : products)
        \(next)
        \(await CatalogProblems.section(catalog, in: scope, visit))
        <h2>\(Text.entitlements)</h2>
        \(entitlements(catalog))
        """)
  }

  private static func cells(_ product: CatalogProduct) -> [Markup] {
    let grants = product.entitlements.map { entitlement in
      "\(entitlement.name) \(Format.value(entitlement.accessLevel, "ACCESS_LEVEL_"))"
    }
    let money = product.configuredPrice.map(Format.money)
    let price = money.map { money in
      product.configuredPricePeriod.given.map { Text.price(money, for: period($0)) } ?? money
    }
    return [
      "<code>\(product.productId)</code>", "\(Format.value(product.type, "PRODUCT_TYPE_"))",
      "\(product.subscriptionGroup)", "\(product.subscriptionGroupLevel.map { String($0) } ?? "")",
      "\(period(product.duration))", "\(grants.joined(separator: ", "))", "\(price ?? Text.none)",
      "\(product.promotionalOfferIds.joined(separator: ", "))", prices(product.prices),
    ]
  }

  /// A duration of the contract in words.
  private static func period(_ text: String) -> String { Period(text).map(Format.period) ?? text }

  /// The latest price that a document had in each storefront, at most 20 in sight.
  private static func prices(_ prices: [StorefrontPrice]) -> Markup {
    guard !prices.isEmpty else { return "\(Text.none)" }
    let items = prices.map { price in
      "<li>\(price.storefront) \(price.price.map(Format.money) ?? "") <span class=\"quiet\">\(Format.time(price.seenAt))</span></li>\n"
        as Markup
    }
    return "<details><summary>\(Text.storefronts(prices.count))</summary><ul>\(items)</ul></details>"
  }

  private static func entitlements(_ catalog: GetCatalogResponse) -> Markup {
    guard !catalog.entitlements.isEmpty else { return Part.empty(Text.noEntitlements) }
    return Table.markup(
      Text.entitlements, heads: [Text.entitlement, Text.products],
      rows: catalog.entitlements.map {
        [Format.name($0.name), "\($0.productIds.joined(separator: ", "))"]
      })
  }
}
