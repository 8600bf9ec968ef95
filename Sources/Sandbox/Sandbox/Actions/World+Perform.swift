internal import AppStore
internal import Bytes
internal import JSON

extension World {
  /// Performs an action. An action that throws has changed nothing, so that it need not be recorded.
  ///
  /// - Throws: ``ActionError``: of the members first, then of the state.
  mutating func perform(_ action: Action, _ parameters: Parameters) throws(ActionError) -> Outcome {
    try parameters.allow(only: action.members)
    switch action {
    case .purchases: return try performPurchase(parameters)
    case .restore: return try restore(parameters)
    case .askToBuy: return try answerRequestToBuy(parameters)
    case .autoRenew, .priceConsent, .extend: return try performOnSubscription(action, parameters)
    case .billing: return try setBilling(parameters)
    case .download, .storefront, .clearHistory, .joinFamily, .leaveFamily, .rescindConsent:
      return try performOnAccount(action, parameters)
    case .share, .stopSharing, .seats, .assignSeat, .unclaimSeat, .refundSeats:
      return try performSharing(action, parameters)
    case .claimSeat, .associateSeat, .releaseSeat: return try performSeatClaim(action, parameters)
    case .retentionImage, .retentionMessage, .retentionDefault, .reviewRetention, .realtimeURL:
      return try performMessaging(action, parameters)
    case .advancedCommerce: return try performCommerce(parameters)
    case .externalPurchaseReport: return try performReport(parameters)
    case .deviceBits: return try setDeviceBits(parameters)
    case .externalPurchaseToken: return try createExternalToken(parameters)
    case .requestConsumption, .refund, .declineRefund, .reverseRefund:
      return try performRefund(action, parameters)
    case .keys, .revokeKey, .serverTokens, .periods, .renewalTiming:
      try changeWorldSettings(action, parameters)
      return Outcome()
    case .gracePeriod, .commitmentRules, .sharingRules, .extensionTime, .sharedSecret, .notificationURL,
      .delivery, .futureDocuments:
      try changeAppSettings(action, parameters)
      return Outcome()
    case .price, .withdraw, .offers, .shareable, .invitations, .volumePricing:
      try changeProduct(action, parameters)
      return Outcome()
    case .testNotification: return try sendTestNotification(parameters)
    case .massExtend: return try massExtend(parameters)
    case .finish:
      let transaction = try transaction(parameters)
      transactions[transaction.id]?.isFinished = true
      return Outcome(transactions: [transaction.id])
    case .resendNotification: return try resendNotification(parameters)
    case .setAppAccountToken: return try setAppAccountToken(parameters)
    case .reportConsumption: return try recordConsumptionReport(parameters)
    }
  }

  /// Performs an action on a running subscription.
  private mutating func performOnSubscription(
    _ action: Action, _ parameters: Parameters
  ) throws(ActionError) -> Outcome {
    let line = try ownRunningLine(parameters)
    switch action {
    case .autoRenew: setAutoRenewal(try parameters.flag("enabled"), of: line)
    case .priceConsent: try answerPriceIncrease(isAgreed: parameters.flag("agreed"), of: line)
    default:
      let days = try parameters.integer("days", in: 1...90)
      if let error = extensionError(of: line) {
        throw .notPossible("the renewal date of subscription \(line.id) cannot be extended: \(error)")
      }
      extend(line, days: days, requestIdentifier: try parameters.stringIfPresent("requestIdentifier"))
    }
    return Outcome(transactions: [line.current])
  }

  // MARK: Lookup

  /// Returns the transaction that a request names, by its id or by a reference (``transaction(named:)``).
  func transaction(_ parameters: Parameters) throws(ActionError) -> SoldTransaction {
    let number = parameters.json["transactionId"]?.int64Value
    let id = if let number { String(number) } else { try parameters.string("transactionId") }
    // An action on a restored copy is an action on its purchase.
    let known = Int64(id).flatMap { transactions[restored[$0]?.transaction ?? $0] }
    guard let transaction = known ?? transaction(named: id) else { throw .unknownTransaction(id) }
    return transaction
  }

  /// Returns the subscription to which the named transaction belongs.
  func line(_ parameters: Parameters) throws(ActionError) -> SubscriptionLine {
    let transaction = try transaction(parameters)
    guard let line = lines[transaction.originalID] else { throw .notASubscription(String(transaction.id)) }
    return line
  }

  /// Returns the named subscription, provided that it is running and the account itself pays for it.
  func ownRunningLine(_ parameters: Parameters) throws(ActionError) -> SubscriptionLine {
    let line = try line(parameters)
    guard line.source == nil else {
      throw .notPossible("subscription \(line.id) is shared from another account")
    }
    guard line.isRunning else { throw .notPossible("subscription \(line.id) is over") }
    return line
  }

  /// Returns the app id that a request names; throws for an unknown app.
  func appID(_ parameters: Parameters) throws(ActionError) -> String {
    let id = try parameters.string("app")
    guard app(id) != nil else { throw .unknownApp(id, known: apps.map(\.id)) }
    return id
  }

  // MARK: Customers

  /// Buys at once, or stores the order until a parent answers it.
  private mutating func performPurchase(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let order = try PurchaseOrder(parameters)
    guard try parameters.flagIfPresent("askToBuy") == true else {
      return Outcome(transactions: [try buy(order)])
    }
    _ = try find(order.productId, of: order.app)
    let request = makeUUID()
    askToBuyRequests[request] = AskToBuyRequest(order: order, date: now)
    return Outcome(members: [("request", request), ("state", "PENDING")])
  }

  /// Approves or declines a child's request to buy, within 24 hours.
  private mutating func answerRequestToBuy(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let name = try parameters.string("request")
    let isApproved = try parameters.flag("approved")
    guard let id = askToBuyRequest(named: name), let pending = askToBuyRequests[id] else {
      throw .unknown(what: "request", name: name, known: askToBuyRequests.keys.sorted())
    }
    guard now.milliseconds(since: pending.date) <= Instant.millisecondsPerDay else {
      throw .notPossible("the request expired after 24 hours")
    }
    let bought = isApproved ? [try buy(pending.order)] : []
    askToBuyRequests[id] = nil
    return Outcome(transactions: bought, members: [("state", isApproved ? "APPROVED" : "DECLINED")])
  }

  private mutating func restore(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let app = try appID(parameters)
    let account = try parameters.string("account")
    let onNewDevice = try parameters.flagIfPresent("newDevice") ?? true
    return Outcome(transactions: restore(account, in: app, onNewDevice: onNewDevice))
  }

  /// Lets the charges of an account fail or succeed; on success, subscriptions in grace and retry recover at once.
  private mutating func setBilling(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let account = try parameters.string("account")
    let fails = try parameters.flag("fails")
    guard accounts[account] != nil else {
      throw .unknown(what: "account", name: account, known: accounts.keys.sorted())
    }
    // App Store Connect Help: "Testing subscriptions and in-app purchases in TestFlight".
    if fails, scale(of: account) == .testFlight {
      throw .notPossible(
        "charges do not fail in TestFlight; set a renewal rate for the account with 'periods'")
    }
    accounts[account]?.billingFails = fails
    guard !fails else { return Outcome() }
    var recovered: [Int64] = []
    for app in apps {
      for line in subscriptions(of: account, in: app.id) where line.source == nil {
        recover(line)
        if let now = lines[line.id], now.current != line.current { recovered.append(now.current) }
      }
    }
    return Outcome(transactions: recovered)
  }

  /// Sets the token of a transaction and of later ones of its subscription, as the Server API does.
  private mutating func setAppAccountToken(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let transaction = try transaction(parameters)
    let token = try parameters.string("appAccountToken")
    guard token.isUUID else { throw .invalidAppAccountToken }
    transactions[transaction.id]?.appAccountToken = token.lowercased()
    if var line = lines[transaction.originalID] {
      line.appAccountToken = token.lowercased()
      put(line)
      transactions[line.current]?.appAccountToken = token.lowercased()
    }
    return Outcome(transactions: [transaction.id])
  }

  // MARK: Refunds

  /// Refunds, reverses or declines a refund, or requests one.
  private mutating func performRefund(_ action: Action, _ parameters: Parameters) throws(ActionError)
    -> Outcome
  {
    let transaction = try transaction(parameters)
    switch action {
    case .refund:
      let reasons = ["OTHER", "APP_ISSUE"]
      let name = parameters.json["reason"] == nil ? "OTHER" : try parameters.choice("reason", of: reasons)
      let percentage = try parameters.percentageIfPresent("percent") ?? .wholePercentage
      try refund(transaction, name == "APP_ISSUE" ? .appIssue : .other, percentage: percentage)
    case .reverseRefund: try reverseRefund(of: transaction)
    case .declineRefund: notify(.refundDeclined, about: transaction)
    default:
      guard transaction.ownership == .purchased else {
        throw .notPossible("transaction \(transaction.id) was paid by another account")
      }
      let reasons = ConsumptionRequestReason.known.map(\.rawValue)
      let reason = parameters.json["reason"] == nil ? "OTHER" : try parameters.choice("reason", of: reasons)
      // A refund request turns auto-renew off (Apple: notificationType, DID_CHANGE_RENEWAL_STATUS: "the App Store
      // disabled auto-renewal after the user requested a refund").
      if let line = lines[transaction.originalID], line.isRunning { setAutoRenewal(false, of: line) }
      notify(.consumptionRequest, about: transaction, reason: ConsumptionRequestReason(rawValue: reason))
    }
    return Outcome(transactions: [transaction.id])
  }

  // MARK: Sharing

  /// Performs an action of the purchaser about Family Sharing or seats.
  private mutating func performSharing(_ action: Action, _ parameters: Parameters) throws(ActionError)
    -> Outcome
  {
    let transaction = try transaction(parameters)
    guard transaction.ownership == .purchased else {
      throw .notPossible("transaction \(transaction.id) is shared from another account")
    }
    if action == .share || action == .stopSharing {
      setSharing(action == .share, of: transaction)
      return Outcome(transactions: [transaction.id])
    }
    guard let line = lines[transaction.originalID] else { throw .notASubscription(String(transaction.id)) }
    switch action {
    case .seats: try setSeats(parameters.integer("seats", in: 1...Self.maxSeats), of: line)
    case .refundSeats: try refundSeats(parameters.integer("seats", in: 1...Self.maxSeats), of: line)
    case .assignSeat: try assignSeat(of: line, to: parameters.string("account"))
    default:
      if let claim = try parameters.stringIfPresent("seatClaimId") {
        try unclaimSeat(claim, of: line)
      } else {
        try unassignSeat(of: line, from: parameters.string("account"))
      }
    }
    let changed = lines[line.id] ?? line
    return Outcome(transactions: [changed.additions.last ?? changed.current])
  }
}
