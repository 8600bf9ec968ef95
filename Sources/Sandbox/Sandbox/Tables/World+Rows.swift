internal import AppStore
internal import JSON

/// The table rows of the world.
extension World {
  /// All tables, in the order of their creation.
  static let tables = [clockTable.table] + AppTables.all + CustomerTables.all

  /// The only row of the table `clock`.
  struct Time: Sendable {
    let now: Instant
    let speed: Int64
    let scale: TimeScale
    let timing: RenewalTiming
  }

  static let clockTable = RowEncoder<Time>(
    "clock", "The simulated time, its speed, and the timing of renewals in milliseconds.", key: 1,
    [
      .init("now") { $0.now }, .init("speed") { $0.speed },
      .init("milliseconds_per_month") { $0.scale.compressedMonth },
      .init("is_testflight") { $0.scale == .testFlight },
      .init("charge_lead") { $0.timing.chargeLead }, .init("failure_delay") { $0.timing.failureDelay },
      .init("stale_failures") { $0.timing.staleFailures },
    ])

  /// Rows that never change.
  static var fixedRows: [RowChange] { [AppTables.storefront.change(to: Storefront.known)] }

  /// Returns the rows of everything that changed since ``clearChanges()``; for a new world all rows except
  /// ``fixedRows``.
  func changedRows(speed: Int64) -> [RowChange] {
    let time = Time(now: now, speed: speed, scale: scale, timing: timing)
    return [Self.clockTable.change(to: [time])] + settingRows + reportRows + customerRows + notificationRows
  }

  /// Begins to record again, after the changed rows were written.
  mutating func clearChanges() {
    settings.clearChanges()
    accounts.clearChanges()
    transactions.clearChanges()
    restored.clearChanges()
    lines.clearChanges()
    notifications.clearChanges()
    consumptionReports.clearChanges()
    massExtensions.clearChanges()
    askToBuyRequests.clearChanges()
    externalReports.clearChanges()
    externalTokens.clearChanges()
    keys.clearChanges()
  }

  // MARK: Developers

  /// The rows of apps, keys and mass extensions.
  private var settingRows: [RowChange] {
    apps.filter { settings.changed.contains($0.id) }.flatMap(rows)
      + keys.changed.map { id in AppTables.serverKey.change(about: id, to: keys[id].map { (id, $0) }.list) }
      + massExtensions.changed.map {
        AppTables.massExtension.change(about: $0, to: [($0, massExtensions[$0])])
      }
  }

  /// The rows of external purchases.
  private var reportRows: [RowChange] {
    externalReports.changed.map { name in
      AppTables.externalReport.change(
        about: name.app, name.identifier, to: externalReports[name].map { (name, $0) }.list)
    }
      + externalTokens.changed.sorted().map {
        AppTables.externalToken.change(about: $0, to: externalTokens[$0].list)
      }
  }

  /// All rows of an app's settings, which change together.
  private func rows(about app: SandboxApp) -> [RowChange] {
    let settings = settings[app.id] ?? AppSettings()
    let products = app.products.map {
      AppTables.Product(
        app: app.id, product: $0, settings: settings, price: price(of: $0, in: app.id, at: .usa),
        monthlyPrice: monthlyPrice(of: $0, in: app.id, at: .usa))
    }
    let prices = app.products.flatMap { product in
      Storefront.known.map {
        AppTables.Price(
          app: app.id, product: product, storefront: $0, price: price(of: product, in: app.id, at: $0),
          monthlyPrice: monthlyPrice(of: product, in: app.id, at: $0))
      }
    }
    let offers = settings.offers.flatMap { id, offers in offers.map { (app.id, id, $0) } }
    return [
      AppTables.app.change(about: app.id, to: [(app, settings)]),
      AppTables.product.change(about: app.id, to: products),
      AppTables.price.change(about: app.id, to: prices),
      AppTables.offer.change(about: app.id, to: offers),
    ] + rows(about: app, settings.messages)
  }

  /// The price of one payment; `nil` for a product without the monthly plan.
  private func monthlyPrice(of product: SandboxProduct, in app: String, at storefront: Storefront) -> Int64? {
    product.monthlyPrice.map { _ in price(of: product, .monthly, in: app, at: storefront) }
  }

  private func rows(about app: SandboxApp, _ messages: RetentionMessages) -> [RowChange] {
    [
      AppTables.retentionImage.change(about: app.id, to: messages.images.map { (app.id, $0, $1) }),
      AppTables.retentionMessage.change(about: app.id, to: messages.messages.map { (app.id, $0, $1) }),
      AppTables.retentionDefault.change(about: app.id, to: messages.defaults.map { (app.id, $0, $1) }),
    ]
  }

  // MARK: Customers

  /// The rows of accounts and what they bought.
  private var customerRows: [RowChange] {
    accounts.changed.sorted().flatMap(rows)
      + transactions.changed.sorted().map {
        CustomerTables.purchase.change(about: $0, to: transactions[$0].list)
      }
      + restored.changed.sorted().map { id in
        CustomerTables.restoredTransaction.change(about: id, to: restored[id].map { (id, $0) }.list)
      }
      + lines.changed.sorted().flatMap { id in
        [
          CustomerTables.subscription.change(about: id, to: lines[id].list),
          CustomerTables.seat.change(about: id, to: lines[id]?.claims.map { (id, $0) } ?? []),
        ]
      }
      + askToBuyRequests.changed.map { request in
        CustomerTables.requestToBuy.change(
          about: request, to: askToBuyRequests[request].map { (request, $0) }.list)
      }
  }

  private func rows(about name: String) -> [RowChange] {
    let account = accounts[name]
    return [
      CustomerTables.account.change(about: name, to: account.map { (name, $0) }.list),
      CustomerTables.appInstall.change(about: name, to: account?.appInstalls.map { (name, $0, $1) } ?? []),
    ]
  }

  // MARK: Notifications

  /// The rows of notifications, of their attempts and of consumption reports.
  private var notificationRows: [RowChange] {
    notifications.changed.sorted().flatMap { number in
      let notification = notifications[number]
      let deliveries = notification.attempts.enumerated().map { (number, $0.offset + 1, $0.element) }
      return [
        CustomerTables.notification.change(about: number, to: [(number, notification)]),
        CustomerTables.delivery.change(about: number, to: deliveries),
      ]
    }
      + consumptionReports.changed.sorted().map {
        CustomerTables.consumption.change(about: $0, to: [($0, consumptionReports[$0])])
      }
  }
}

extension Optional {
  /// An array of the value, or an empty array.
  fileprivate var list: [Wrapped] { map { [$0] } ?? [] }
}
