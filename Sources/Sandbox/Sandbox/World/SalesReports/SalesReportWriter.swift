internal import AppStore
internal import AppStoreReports

/// Writes the reports of App Store Connect about some apps from the truth of the world, so that a reconciliation with
/// them finds exactly the faults that a tester ordered.
struct SalesReportWriter {
  let world: World
  let apps: [SandboxApp]

  /// The report of a day of Apple's zone.
  func report(_ kind: AppStoreReport, on day: CalendarDay) -> TabularText {
    var report = TabularText(columns: kind.columns)
    for app in apps {
      switch kind {
      case .subscription: addStocks(of: app, on: day, to: &report)
      case .subscriptionEvent: addEvents(of: app, on: day, to: &report)
      case .subscriber: addCharges(of: app, on: day, to: &report)
      case .sales: addSales(of: app, on: day, to: &report)
      case .finance: break
      }
    }
    return report
  }

  /// The Finance report of a month of Apple's fiscal calendar.
  func finance(of month: FiscalMonth) -> TabularText {
    var report = TabularText(columns: AppStoreReport.finance.columns)
    for app in apps {
      let span =
        ReportZone.pacific.start(
          of: month.firstDay)..<ReportZone.pacific.start(
          of: month.lastDay.advanced(by: 1))
      var sums = OrderedSums()
      for sale in world.sales(of: app.id, in: span) {
        let values = product(sale.sold, app).merging([
          "Start Date": month.firstDay.usualText, "End Date": month.lastDay.usualText,
          "Vendor Identifier": sale.sold.productID, "Title": sale.sold.productID,
          "Partner Share": Amount.text(abs(sale.proceeds)),
          "Partner Share Currency": currency(of: sale.sold, app), "Sale or Return": sale.isRefund ? "R" : "S",
          "Country Of Sale": country(of: sale.sold), "Customer Price": Amount.text(abs(sale.price)),
          "Customer Currency": currency(of: sale.sold, app),
          "Product Type Identifier": Self.typeIdentifier(app, sale.sold),
        ]) { _, new in new }
        sums.add(sale.units == 0 ? -1 : sale.units, values)
      }
      for (values, quantity) in sums.all {
        let share = Amount.thousandths(values["Partner Share"] ?? "") ?? 0
        let (total, isTooLarge) = share.multipliedReportingOverflow(by: quantity)
        report.append(
          values.merging([
            "Quantity": String(quantity), "Extended Partner Share": Amount.text(isTooLarge ? .max : total),
          ]) { _, new in new })
      }
    }
    return report
  }

  // MARK: Reports of a day

  /// The day in Apple's zone, Pacific time.
  private func span(of day: CalendarDay) -> Range<Instant> {
    ReportZone.pacific.start(of: day)..<ReportZone.pacific.start(of: day.advanced(by: 1))
  }

  /// Adds the lines of the Subscription report: the subscriptions at the end of the day.
  private func addStocks(of app: SandboxApp, on day: CalendarDay, to report: inout TabularText) {
    var rows: [[String: String]] = []
    var positions: [[String: String]: Int] = [:]
    for stock in world.stocks(of: app.id, before: span(of: day).upperBound) {
      let price = stock.sold.seats?.tiers.averagePrice ?? stock.sold.price
      let amounts = money(price, stock.sold, isAfterOneYear: stock.isAfterOneYear, app)
      let key = product(stock.sold, app).merging(amounts) { _, new in new }
        .merging(["Country": country(of: stock.sold), "Device": "iPhone"]) { _, new in new }
      let position = positions[key] ?? rows.count
      if position == rows.count {
        positions[key] = position
        rows.append(key)
      }
      for column in Self.columns(of: stock) {
        rows[position][column] = String((rows[position][column].flatMap { Int64($0) } ?? 0) + 1)
      }
    }
    for row in rows {
      var row = row
      let numbers =
        SubscriptionColumn.allCases.map(\.rawValue)
        + ["Marketing Opt-Ins", "Billing Retry", "Grace Period", "Subscribers"]
      for column in numbers where row[column] == nil { row[column] = "0" }
      report.append(row)
    }
  }

  /// The columns that count a subscription. The grace period counts with the subscriptions in force.
  private static func columns(of stock: ReportedStock) -> [String] {
    if case .retry = stock.status { return ["Billing Retry"] }
    var columns = ["Subscribers", column(of: stock.sold.offer).rawValue]
    if case .grace = stock.status { columns.append("Grace Period") }
    return columns
  }

  /// The column of the Subscription report for an offer.
  private static func column(of offer: Offer?) -> SubscriptionColumn {
    guard let offer else { return .standard }
    switch (offer.type, offer.mode) {
    case (.introductory, .freeTrial): return .introductoryFreeTrial
    case (.introductory, .payUpFront): return .introductoryPayUpFront
    case (.introductory, _): return .introductoryPayAsYouGo
    case (.offerCode, .freeTrial): return .offerCodeFreeTrial
    case (.offerCode, .payUpFront): return .offerCodePayUpFront
    case (.offerCode, _): return .offerCodePayAsYouGo
    case (.winBack, .freeTrial): return .winBackFreeTrial
    case (.winBack, .payUpFront): return .winBackPayUpFront
    case (.winBack, _): return .winBackPayAsYouGo
    case (_, .freeTrial): return .promotionalFreeTrial
    case (_, .payUpFront): return .promotionalPayUpFront
    case (_, _): return .promotionalPayAsYouGo
    }
  }

  /// Adds the lines of the Subscription Event report, equal ones as a quantity.
  private func addEvents(of app: SandboxApp, on day: CalendarDay, to report: inout TabularText) {
    var sums = OrderedSums()
    for event in world.subscriptionEvents(of: app.id, in: span(of: day)) {
      var values = product(event.sold, app)
      values["Event Date"] = day.description
      values["Event"] = event.name
      values["Subscription Offer Type"] = event.sold.offer?.modeName
      values["Original Start Date"] = ReportZone.pacific.day(of: event.sold.originalPurchaseDate).description
      values["Country"] = country(of: event.sold)
      values["Device"] = "iPhone"
      values["Cancellation Reason"] = event.cancellationReason
      values["Consecutive Paid Periods"] = String(paidPeriods(upTo: event.sold))
      if let previous = event.previous {
        values["Previous Subscription Name"] = previous.productID
        values["Previous Subscription Apple ID"] = appleID(of: previous.productID, app)
      }
      sums.add(1, values)
    }
    for (values, quantity) in sums.all {
      report.append(values.merging(["Quantity": String(quantity)]) { _, new in new })
    }
  }

  /// The number of paid periods of a subscription up to a transaction.
  private func paidPeriods(upTo sold: SoldTransaction) -> Int {
    world.purchases(of: sold.account, in: sold.app).filter {
      $0.originalID == sold.originalID && !$0.isTrial && $0.purchaseDate <= sold.purchaseDate
    }.count
  }

  /// Adds the lines of the Subscriber report: each charge and refund of a subscription.
  private func addCharges(of app: SandboxApp, on day: CalendarDay, to report: inout TabularText) {
    for sale in world.sales(of: app.id, in: span(of: day)) where world.lines[sale.sold.originalID] != nil {
      var values = product(sale.sold, app)
        .merging(money(sale.price, sale.sold, isAfterOneYear: sale.isAfterOneYear, app)) { _, new in new }
      values["Event Date"] = day.description
      values["Subscription Offer Type"] = sale.sold.offer?.modeName
      values["Country"] = country(of: sale.sold)
      values["Device"] = "iPhone"
      values["Subscriber ID"] = subscriberID(of: sale.sold.account)
      values["Subscriber ID Reset"] = ""
      values["Refund"] = sale.isRefund ? "Yes" : ""
      values["Purchase Date"] = ReportZone.pacific.day(of: sale.sold.purchaseDate).description
      values["Units"] = String(sale.units)
      report.append(values)
    }
  }

  /// Adds the lines of the Sales report: all charges and refunds, equal ones as units.
  private func addSales(of app: SandboxApp, on day: CalendarDay, to report: inout TabularText) {
    var sums = OrderedSums()
    for sale in world.sales(of: app.id, in: span(of: day)) {
      let isRenewal = sale.sold.reason == .renewal
      let isSubscription = world.lines[sale.sold.originalID] != nil
      sums.add(
        sale.units,
        [
          "Provider": "APPLE", "Provider Country": "US", "SKU": sale.sold.productID, "Developer": "Sandbox",
          "Title": sale.sold.productID, "Product Type Identifier": Self.typeIdentifier(app, sale.sold),
          "Developer Proceeds": Amount.text(sale.proceeds), "Begin Date": day.usualText,
          "End Date": day.usualText, "Customer Currency": currency(of: sale.sold, app),
          "Country Code": country(of: sale.sold), "Currency of Proceeds": currency(of: sale.sold, app),
          "Apple Identifier": appleID(of: sale.sold.productID, app),
          "Customer Price": Amount.text(sale.price), "Parent Identifier": app.id,
          "Subscription": isSubscription ? (isRenewal ? "Renewal" : "New") : "",
          "Period": isSubscription ? duration(of: sale.sold, app) : "", "Device": "iPhone",
          "Supported Platforms": "iOS", "Proceeds Reason": sale.isAfterOneYear ? rateAfterOneYear : "",
        ])
    }
    for (values, units) in sums.all {
      report.append(values.merging(["Units": String(units)]) { _, new in new })
    }
  }
}

// Values of columns.
extension SalesReportWriter {
  /// The columns that describe the product.
  private func product(_ sold: SoldTransaction, _ app: SandboxApp) -> [String: String] {
    let isSubscription = world.lines[sold.originalID] != nil
    return [
      "App Name": app.id, "App Apple ID": app.identity.appAppleID.map { String($0) } ?? "",
      "Subscription Name": sold.productID, "Subscription Apple ID": appleID(of: sold.productID, app),
      "Apple Identifier": appleID(of: sold.productID, app),
      "Subscription Group ID": world.lines[sold.originalID]?.group ?? "",
      "Standard Subscription Duration": isSubscription ? duration(of: sold, app) : "",
      "Subscription Offer Name": sold.offer?.id ?? "", "Promotional Offer ID": sold.offer?.identifier ?? "",
    ]
  }

  /// The columns of price and proceeds: 70 percent, 85 after a year of paid service.
  private func money(
    _ price: Int64, _ sold: SoldTransaction, isAfterOneYear: Bool, _ app: SandboxApp
  ) -> [String: String] {
    [
      "Customer Price": Amount.text(price), "Customer Currency": currency(of: sold, app),
      "Developer Proceeds": Amount.text(price * (isAfterOneYear ? 85 : 70) / 100),
      "Proceeds Currency": currency(of: sold, app),
      "Proceeds Reason": isAfterOneYear && price != 0 ? rateAfterOneYear : "",
    ]
  }

  /// The `Apple Identifier` of a product: a number that begins with the app's.
  private func appleID(of productID: String, _ app: SandboxApp) -> String {
    let position = app.products.firstIndex { $0.productId == productID } ?? 999
    return String((app.identity.appAppleID ?? 1) * 1000 + Int64(position) + 1)
  }

  /// The country in two letters, as reports write it.
  private func country(of sold: SoldTransaction) -> String {
    Countries.twoLetters(sold.storefront.code) ?? sold.storefront.code
  }

  /// The currency of the price.
  private func currency(of sold: SoldTransaction, _ app: SandboxApp) -> String {
    app.products.first { $0.productId == sold.productID }.map(sold.storefront.currency)
      ?? sold.storefront.currency
  }

  /// The length of a period in Apple's words.
  private func duration(of sold: SoldTransaction, _ app: SandboxApp) -> String {
    if sold.billingPlan == .monthly { return "1 Month" }
    guard let period = app.products.first(where: { $0.productId == sold.productID })?.period else {
      return ""
    }
    if period.months == 0 { return "\(period.days) Days" }
    if period.months == 12 { return "1 Year" }
    return period.months == 1 ? "1 Month" : "\(period.months) Months"
  }

  /// A number that says nothing about the account but is the same in all reports.
  private func subscriberID(of account: String) -> String {
    var hash = world.seed ^ 0xCBF2_9CE4_8422_2325
    for byte in account.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return String(hash % 1_000_000_000_000_000_000)
  }

  /// Apple's product type identifier of in-app purchases.
  private static func typeIdentifier(_ app: SandboxApp, _ sold: SoldTransaction) -> String {
    switch app.products.first(where: { $0.productId == sold.productID })?.type {
    case .autoRenewableSubscription?: "IAY"
    case .nonRenewingSubscription?: "IA9"
    default: "IA1"
    }
  }
}

extension Offer {
  /// The `Subscription Offer Type`.
  fileprivate var modeName: String {
    switch mode {
    case .freeTrial: "Free Trial"
    case .payUpFront: "Pay Up Front"
    default: "Pay As You Go"
    }
  }
}

/// Rows that differ in a number only, in the order of their first appearance.
private struct OrderedSums {
  private(set) var all: [(values: [String: String], sum: Int64)] = []
  private var positions: [[String: String]: Int] = [:]

  /// Adds a number to the row with these values.
  mutating func add(_ number: Int64, _ values: [String: String]) {
    if let position = positions[values] {
      all[position].sum += number
    } else {
      positions[values] = all.count
      all.append((values, number))
    }
  }
}
