internal import AppStore
internal import JSON

/// Settings of accounts and developers.
extension World {
  /// Performs an action that names an account.
  mutating func performOnAccount(_ action: Action, _ parameters: Parameters) throws(ActionError) -> Outcome {
    let account = try parameters.string("account")
    switch action {
    case .download: try download(parameters, account)
    case .storefront:
      let code = try parameters.choice("storefront", of: Storefront.known.map(\.code))
      let storefront = Storefront.known.first { $0.code == code } ?? .usa
      move(account, to: storefront)
    case .clearHistory: clearHistory(of: account, in: try appID(parameters))
    case .joinFamily: try join(account, family: try parameters.string("family"))
    case .rescindConsent:
      let app = try appID(parameters)
      guard let transaction = purchases(of: account, in: app).last else {
        throw .unknown(what: "account", name: account, known: accounts.keys.sorted())
      }
      notify(.rescindConsent, about: transaction)
    default: leaveFamily(account)
    }
    return Outcome(members: [("account", account)])
  }

  /// Downloads the app, or updates it if the account has it: the first version and the date stay then.
  private mutating func download(_ parameters: Parameters, _ account: String) throws(ActionError) {
    let app = try appID(parameters)
    let version = try parameters.string("version")
    let original = try parameters.stringIfPresent("originalVersion")
    let preorder = try parameters.instantIfPresent("preorderDate")
    var install =
      accounts[account]?.appInstalls[app]
      ?? AppInstall(version: version, originalVersion: version, originalPurchaseDate: now)
    install.version = version
    install.originalVersion = original ?? install.originalVersion
    install.preorderDate = preorder ?? install.preorderDate
    accounts[account, default: AppleAccount()].appInstalls[app] = install
  }

  /// Removes an account's purchases, like "Clear Purchase History" in App Store Connect. No notification is
  /// sent.
  private mutating func clearHistory(of account: String, in app: String) {
    for transaction in purchases(of: account, in: app) {
      transactions[transaction.id] = nil
      for id in restored.keys where restored[id]?.transaction == transaction.id { restored[id] = nil }
      for member in lines[transaction.id]?.members ?? [] { revoke(member) }
      lines[transaction.id] = nil
    }
    history[Ownership(app: app, account: account)] = nil
    ownLines = ownLines.filter { $0.key.account != account || $0.key.app != app }
  }

  // MARK: Developers

  /// Changes what all apps share: keys, tokens, and the timing of periods and renewals.
  mutating func changeWorldSettings(_ action: Action, _ parameters: Parameters) throws(ActionError) {
    switch action {
    case .keys:
      let id = try parameters.string("keyId")
      keys[id] = try parameters.string("publicKey")
      revokedKeys.remove(id)
    case .revokeKey:
      let id = try parameters.string("keyId")
      keys[id] = nil
      revokedKeys.insert(id)
    case .serverTokens: requiresDocumentedTokens = try parameters.flag("asDocumented")
    case .periods: try setPeriods(parameters)
    default:
      timing = try renewalTiming(parameters)
      for id in lines.keys.sorted() { scheduleCharge(of: id) }
    }
  }

  /// Changes a setting of one app.
  mutating func changeAppSettings(_ action: Action, _ parameters: Parameters) throws(ActionError) {
    let app = try appID(parameters)
    var settings = settings[app] ?? AppSettings()
    switch action {
    case .gracePeriod: settings.gracePeriod = try gracePeriod(parameters)
    case .commitmentRules: try setRules(&settings.commitmentRules, parameters)
    case .sharingRules: try settings.sharingRules.change(parameters)
    case .extensionTime: settings.massExtensionTime = try parameters.durationIfPresent("by") ?? 0
    case .sharedSecret: settings.sharedSecret = try parameters.stringIfPresent("password")
    case .notificationURL: settings.notificationTarget = try notificationTarget(parameters)
    case .delivery: try settings.delivery.change(parameters)
    default: try settings.futureDocuments.change(parameters)
    }
    self.settings[app] = settings
  }

  /// Sends a test notification, which has version 2.
  mutating func sendTestNotification(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let app = try appID(parameters)
    return Outcome(members: [("testNotificationToken", post(.test, nil, of: app, .test))])
  }

  /// Sets the length of later periods, of all accounts or of one.
  private mutating func setPeriods(_ parameters: Parameters) throws(ActionError) {
    let month = try parameters.durationIfPresent("month")
    let isTestFlight = try parameters.flagIfPresent("testFlight") ?? false
    guard month.map({ TimeScale.months.contains($0) && !isTestFlight }) ?? true else {
      throw .wrongType(member: "month", expected: "1s to 366d, and none with testFlight")
    }
    let scale = month.map { TimeScale.compressed(month: $0) } ?? (isTestFlight ? .testFlight : nil)
    if let account = try parameters.stringIfPresent("account") {
      accounts[account, default: AppleAccount()].scale = scale
    } else {
      self.scale = scale ?? .calendar
    }
  }

  /// Returns the timing of renewals; members that are absent keep their value.
  private func renewalTiming(_ parameters: Parameters) throws(ActionError) -> RenewalTiming {
    var timing = timing
    if let lead = try parameters.durationIfPresent("chargeLead") { timing.chargeLead = lead }
    if let delay = try parameters.durationIfPresent("failureDelay") { timing.failureDelay = delay }
    guard max(timing.chargeLead, timing.failureDelay) <= Instant.millisecondsPerDay else {
      throw .wrongType(member: "chargeLead or failureDelay", expected: "at most 24h")
    }
    if parameters.json["staleFailures"] != nil {
      timing.staleFailures = try parameters.integer("staleFailures", in: 0...100)
    }
    return timing
  }

  /// A setting that App Store Connect offers.
  private func gracePeriod(_ parameters: Parameters) throws(ActionError) -> GracePeriod {
    let days = try parameters.integer("days", in: 0...28)
    guard GracePeriod.lengths.contains(days) else {
      throw .wrongType(member: "days", expected: "0, 3, 16 or 28")
    }
    return GracePeriod(days: days, scope: try parameters.caseIfPresent("renewalType") ?? .allRenewals)
  }

  /// Changes the rules of commitments; members that are absent keep their value.
  private func setRules(_ rules: inout CommitmentRules, _ parameters: Parameters) throws(ActionError) {
    if let choice: CommitmentRules.ExpiredSubtype = try parameters.caseIfPresent("expiredSubtype") {
      rules.expiredSubtype = choice
    }
    if parameters.json["lastPeriodAutoRenewStatus"] != nil {
      rules.staysOnInLastPeriod = try parameters.integer("lastPeriodAutoRenewStatus", in: 0...1) == 1
    }
  }

  /// The URL and version of notifications; `nil` without a URL, which turns them off.
  private func notificationTarget(_ parameters: Parameters) throws(ActionError) -> AppSettings
    .NotificationTarget?
  {
    guard let url = try parameters.stringIfPresent("url") else { return nil }
    guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
      throw .wrongType(member: "url", expected: "an http or https URL")
    }
    let version = try parameters.json["version"].map { _ throws(ActionError) in
      try parameters.integer("version", in: 1...2)
    }
    return AppSettings.NotificationTarget(url: url, version: version ?? 2)
  }

  /// Changes a product in App Store Connect: its price, its sale, its offers and how it is shared.
  mutating func changeProduct(_ action: Action, _ parameters: Parameters) throws(ActionError) {
    let app = try appID(parameters)
    let product = try find(parameters.string("productId"), of: app)
    let id = product.productId
    switch action {
    case .price:
      let storefront = try parameters.stringIfPresent("storefront").map { _ throws(ActionError) in
        try parameters.choice("storefront", of: Storefront.known.map(\.code))
      }
      let change = PriceChange(
        price: try parameters.integer("price", in: 0...1_000_000_000), plan: try parameters.billingPlan(),
        storefront: storefront, needsConsent: try parameters.flagIfPresent("needsConsent"),
        notice: try parameters.durationIfPresent("notice"))
      setPrice(change, of: product, in: app)
    case .invitations:
      let known = InvitationManagement.known.map(\.rawValue)
      if try parameters.choice("management", of: known) == InvitationManagement.developer.rawValue {
        settings[app, default: AppSettings()].invitedByDeveloper.insert(id)
      } else {
        settings[app]?.invitedByDeveloper.remove(id)
      }
    case .volumePricing:
      guard product.type == .autoRenewableSubscription else { throw .notASubscription(id) }
      settings[app, default: AppSettings()].priceBands[id] = try parameters.priceBands("bands")
    case .withdraw:
      if try parameters.flagIfPresent("withdrawn") ?? true {
        settings[app, default: AppSettings()].withdrawn.insert(id)
      } else {
        settings[app]?.withdrawn.remove(id)
      }
    case .shareable:
      guard try parameters.flagIfPresent("enabled") ?? true else {
        settings[app]?.shareable.remove(id)
        return
      }
      settings[app, default: AppSettings()].shareable.insert(id)
      shareEverything(of: accounts.keys.sorted())
    default:
      guard product.type == .autoRenewableSubscription else { throw .notASubscription(id) }
      let offer = try Offer(parameters)
      settings[app, default: AppSettings()].offers[id, default: []].removeAll { $0.id == offer.id }
      settings[app]?.offers[id]?.append(offer)
    }
  }
}
