internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.CatalogService`: the products of an app, and the prices that customers paid.
struct CatalogServiceHandler: CatalogServiceMethods {
  let context: ServiceContext

  /// Lists the products by id, with the stored price of the latest day for each storefront, billing plan and reason.
  /// The position of a page is the last product of the previous one.
  func getCatalog(
    _ request: GetCatalogRequest, _ call: CallContext
  ) async throws(Status) -> GetCatalogResponse {
    let (app, environment) = try context.scope(of: request)
    let (page, size) = try context.page(of: request)
    let wanted = Set(request.productIds)
    let products = app.products.values.sorted { $0.productID < $1.productID }
      .filter { wanted.isEmpty || wanted.contains($0.productID) }
      .drop { product in page.position.map { product.productID <= $0 } ?? false }
    let messages = try await context.readExpensively(call) { reader throws(StoreError) in
      try products.prefix(size).map { product throws(StoreError) in
        CatalogProduct(
          product, prices: try reader.prices(of: product.productID, of: app.id, in: environment))
      }
    }
    return .with {
      $0.environment = Wire.Environment(environment)
      $0.products = messages
      $0.entitlements = app.catalogEntitlements
      $0.subscriptionGroups = app.catalogGroups
      $0.catalogFingerprint = app.fingerprintText
      if products.count > size { $0.nextPageToken = page.token(after: messages[size - 1].productId) }
    }
  }
}

extension AppDefinition {
  /// The fingerprint in hexadecimal digits, as responses contain it.
  var fingerprintText: String { String(fingerprint, radix: 16) }

  /// The entitlements with the products that grant them, also at a limited level.
  fileprivate var catalogEntitlements: [CatalogEntitlement] {
    entitlements.map { name in
      .with {
        $0.name = name
        $0.productIds = products.values.filter { $0.accessLevels[name] != nil }.map(\.productID).sorted()
      }
    }
  }

  /// The subscription groups by name, each with its products from the highest level of service (1) to the lowest.
  fileprivate var catalogGroups: [CatalogSubscriptionGroup] {
    let groups = Dictionary(grouping: products.values.filter { $0.subscriptionGroup != nil }) {
      $0.subscriptionGroup ?? ""
    }
    return groups.sorted { $0.key < $1.key }.map { name, products in
      .with {
        $0.subscriptionGroup = name
        $0.productIds = products.sorted {
          ($0.level ?? .max, $0.productID) < ($1.level ?? .max, $1.productID)
        }
        .map(\.productID)
      }
    }
  }
}

extension CatalogProduct {
  /// `prices` are those that transactions had; the configured price is what the operator states.
  fileprivate init(_ product: ProductDefinition, prices: [Store.StorefrontPrice]) {
    self.init()
    productId = product.productID
    type = Wire.ProductType(product.type)
    subscriptionGroup = product.subscriptionGroup ?? ""
    subscriptionGroupLevel = product.level.map { Int32(clamping: $0) }
    duration = product.duration?.description ?? ""
    entitlements = product.accessLevels.sorted { $0.key < $1.key }.map { name, level in
      .with {
        $0.name = name
        $0.accessLevel = Wire.AccessLevel(level)
      }
    }
    promotionalOfferIds = product.offers
    configuredPrice = product.price.flatMap { Wire.Money(milliunits: $0.milliunits, currency: $0.currency) }
    configuredPricePeriod = product.price?.period.description ?? ""
    self.prices = prices.map(Wire.StorefrontPrice.init)
  }
}

extension Wire.StorefrontPrice {
  fileprivate init(_ price: Store.StorefrontPrice) {
    self.init()
    storefront = price.storefront
    billingPlanType = price.billingPlan.map(Wire.BillingPlanType.init) ?? .unspecified
    transactionReason = price.reason?.rawValue ?? ""
    self.price = Wire.Money(milliunits: price.milliunits, currency: price.currency)
    seenAt = GoogleProtobuf.Timestamp(price.seenAt)
  }
}
