internal import AppStore

/// What things cost, and where.
extension World {
  /// The price today for an account, in thousandths of its storefront's currency: the one that was set for the
  /// storefront, or else the catalog's, in another currency at a rate that does not change.
  func price(of product: SandboxProduct, in app: String, for account: String) -> Int64 {
    price(of: product, in: app, at: accounts[account]?.storefront ?? .usa)
  }

  /// The same in a storefront.
  func price(of product: SandboxProduct, in app: String, at storefront: Storefront) -> Int64 {
    let settings = settings[app]
    if let price = settings?.storefrontPrices[storefront.code]?[product.productId] { return price }
    let price = settings?.prices[product.productId] ?? product.price
    guard storefront.currency(of: product) != product.currency else { return price }
    return price * storefront.perDollar / Storefront.perDollar(product.currency)
  }

  /// Raises or lowers the price of a product, everywhere or in one storefront, for new customers at once and for
  /// subscribers with the renewal.
  ///
  /// A higher price that needs consent is asked for; without an answer the subscription ends with its period. One
  /// that needs none counts as accepted. A lower one is nobody's concern.
  mutating func setPrice(
    _ price: Int64, of product: SandboxProduct, in app: String, storefront: String?, needsConsent: Bool
  ) {
    if let storefront {
      settings[app, default: AppSettings()].storefrontPrices[storefront, default: [:]][product.productId] =
        price
    } else {
      settings[app, default: AppSettings()].prices[product.productId] = price
    }
    for id in lines.keys.sorted() {
      guard var line = lines[id], line.app == app, line.isRunning, line.source == nil,
        line.renewalProductID == product.productId
      else { continue }
      let price = self.price(of: product, in: app, for: line.account)
      guard line.renewalPrice != price else { continue }
      guard price > line.renewalPrice else {
        line.renewalPrice = price
        put(line)
        continue
      }
      line.priceIncrease = SubscriptionLine.PriceIncrease(price: price, isAgreed: !needsConsent)
      put(line)
      notify(.priceIncrease, needsConsent ? .pending : .accepted, of: line)
    }
  }

  /// Moves an account to another storefront: what it buys and renews from now on is paid there.
  mutating func move(_ account: String, to storefront: Storefront) {
    accounts[account, default: AppleAccount()].storefront = storefront
    for app in apps {
      for var line in subscriptions(of: account, in: app.id) where line.source == nil && line.isRunning {
        guard let product = product(line.renewalProductID, of: app.id) else { continue }
        line.renewalPrice = price(of: product, in: app.id, for: account)
        line.priceIncrease = nil
        put(line)
      }
    }
  }
}
