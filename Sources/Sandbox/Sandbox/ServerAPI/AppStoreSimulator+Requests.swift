internal import AppStore
internal import Bytes
internal import HTTP
internal import JSON

/// The calls of the Server API that change something, and notification history.
extension AppStoreSimulator {
  /// Handles Extend a Subscription Renewal Date. A request with an identifier that was used for the subscription
  /// returns the first result.
  func extend(_ call: ServerAPICall, _ id: String) throws -> JSONObject {
    let body = try call.body()
    guard let number = Int64(id) else { throw ServerAPIError.invalidOriginalTransactionId }
    guard let line = world.lines[number], line.app == call.app.id else {
      throw world.transaction(number) == nil
        ? ServerAPIError.originalTransactionIdNotFound : .transactionIdIsNotOriginal
    }
    let days = try extensionDays(body)
    let identifier = body["requestIdentifier"] ?? ""
    // Apple, requestIdentifier: a request that is sent again has the same identifier; it extends once.
    if let date = identifier.stringValue.flatMap({ line.extensionResults[$0] }) {
      return extensionResponse(id, line, date)
    }
    switch world.extensionError(of: line) {
    case .familyShared?:
      throw line.ownership == .assigned
        ? ServerAPIError.assignedExtensionIneligible : .extensionFamilyShared
    case .ineligible?: throw ServerAPIError.extensionIneligible
    case .tooOften?: throw ServerAPIError.extensionTooOften
    case nil: break
    }
    let members: JSONObject = [
      "transactionId": .string(id), "days": JSONValue(days), "requestIdentifier": identifier,
    ]
    _ = try perform(.extend, Parameters(members))
    return extensionResponse(id, line, world.lines[number]?.expiresDate)
  }

  /// Apple's `ExtendRenewalDateResponse`; `date` is the new renewal date.
  private func extensionResponse(_ id: String, _ line: SubscriptionLine, _ date: Instant?) -> JSONObject {
    JSONObject(present: [
      ("originalTransactionId", .string(id)),
      ("webOrderLineItemId", world.current(of: line)?.webOrderLineItemID.map { .string(String($0)) }),
      ("success", true),
      ("effectiveDate", date.map { JSONValue($0) }),
    ])
  }

  /// The number of days, after the members that both extension calls have were checked.
  private func extensionDays(_ body: JSONObject) throws -> Int64 {
    guard let days = body["extendByDays"]?.int64Value, (1...90).contains(days) else {
      throw ServerAPIError.invalidExtendByDays
    }
    guard let reason = body["extendReasonCode"]?.int64Value, (0...3).contains(reason) else {
      throw ServerAPIError.invalidExtendReasonCode
    }
    guard let identifier = body["requestIdentifier"]?.stringValue, (1...128).contains(identifier.utf8.count)
    else {
      throw ServerAPIError.invalidRequestIdentifier
    }
    return days
  }

  /// Handles Extend Subscription Renewal Dates for All Active Subscribers. The work is an action, which may take
  /// simulated time.
  func massExtend(_ call: ServerAPICall) throws -> JSONObject {
    let body = try call.body()
    let days = try extensionDays(body)
    guard let product = body["productId"]?.stringValue, world.product(product, of: call.app.id) != nil else {
      throw ServerAPIError.invalidProductId
    }
    // Apple: storefrontCountryCodes. Without the member the extension applies to all storefronts.
    if let codes = body["storefrontCountryCodes"], !codes.isNull {
      guard let codes = codes.arrayValue, !codes.isEmpty else { throw ServerAPIError.emptyStorefrontList }
      let known = Storefront.known.map(\.code)
      guard codes.allSatisfy({ $0.stringValue.map(known.contains) ?? false }) else {
        throw ServerAPIError.invalidStorefront
      }
    }
    let identifier = body["requestIdentifier"] ?? ""
    // A repeated request returns the first result. Its status is found by product and identifier, so the same identifier for
    // another product, or of another app, is another request.
    let isRepeated = world.massExtensions.contains {
      $0.app == call.app.id && $0.productID == product && .string($0.requestIdentifier) == identifier
    }
    if !isRepeated {
      _ = try perform(
        .massExtend,
        Parameters([
          "app": .string(call.app.id), "productId": .string(product), "days": JSONValue(days),
          "requestIdentifier": identifier, "storefronts": body["storefrontCountryCodes"] ?? [],
        ]))
    }
    return ["requestIdentifier": identifier]
  }

  /// Handles Get Status of Subscription Renewal Date Extensions.
  func massExtensionStatus(_ call: ServerAPICall, product: String, _ identifier: String) throws -> JSONObject
  {
    let result = world.massExtensions.first {
      $0.requestIdentifier == identifier && $0.productID == product && $0.app == call.app.id
    }
    guard let result else { throw ServerAPIError.statusRequestNotFound }
    // The counts are present when the request is complete (Apple: MassExtendRenewalDateStatusResponse).
    guard let completed = result.completed else {
      return ["requestIdentifier": .string(identifier), "complete": false]
    }
    return [
      "requestIdentifier": .string(identifier), "complete": true, "completeDate": JSONValue(completed),
      "succeededCount": JSONValue(result.succeeded), "failedCount": JSONValue(result.failed),
    ]
  }

  /// Handles Send Consumption Information, versions 1 and 2. Unlike Apple, it accepts the information whether there was
  /// a request or not, and also after twelve hours.
  func consumption(_ call: ServerAPICall, _ id: String) throws -> JSONObject? {
    let sold = try subject(id, call)
    try requirePurchaser(of: sold)
    let body = try call.body()
    let isSubscription = world.lines[sold.originalID] != nil
    if call.path.first == "v1" {
      // Apple: InvalidTransactionTypeNotSupportedError. Version 2 is for every type.
      let isConsumable = world.product(sold.productID, of: sold.app)?.type == .consumable
      guard isSubscription || isConsumable else { throw ServerAPIError.transactionTypeNotSupported }
      try ConsumptionValidation.checkVersion1(body)
    } else {
      try ConsumptionValidation.checkVersion2(body, isSubscription: isSubscription)
    }
    _ = try perform(
      .reportConsumption,
      ["transactionId": .string(id), "version": .string(call.path[0]), "information": .object(body)],
      or: ServerAPIError.generalBadRequest)
    return nil
  }

  /// Handles Set App Account Token.
  func setAppAccountToken(_ call: ServerAPICall, _ id: String) throws -> JSONObject? {
    let sold = try subject(id, call, unknown: .originalTransactionIdNotFound)
    guard sold.isFirst else { throw ServerAPIError.transactionIdIsNotOriginal }
    try requirePurchaser(of: sold)
    guard let token = try call.body()["appAccountToken"]?.stringValue, token.isUUID else {
      throw ServerAPIError.invalidAppAccountTokenUUID
    }
    _ = try perform(
      .setAppAccountToken, Parameters(["transactionId": .string(id), "appAccountToken": .string(token)]))
    return nil
  }

  /// Throws for a transaction of a family member or seat holder (Apple: error codes 4000185 and 4000227).
  private func requirePurchaser(of sold: SoldTransaction) throws(ServerAPIError) {
    switch sold.ownership {
    case .purchased: return
    case .assigned: throw .assignedTransactionNotSupported
    default: throw .familyTransactionNotSupported
    }
  }

  // MARK: Notifications

  /// Handles Get Notification History: those that were sent, oldest first, 20 a page. A page token belongs to the body
  /// with which it was made, and expires after a day.
  func notificationHistory(_ call: ServerAPICall) throws -> JSONObject {
    let body = try call.body()
    let rules = world.settings[call.app.id]?.delivery.rules ?? .sandbox
    // Clients use machine time or simulated time, so the earlier one counts; a minute allows for the call's duration.
    let earliest = min(world.now, clock.machineNow())
      .advanced(byDays: -rules.historyDays).advanced(byMilliseconds: -60_000)
    let query = try NotificationHistoryQuery(body, earliest: earliest.millisecondsSince1970)
    // Any transaction of the customer identifies the customer (Apple: NotificationHistoryRequest, transactionId).
    let customer = try query.transactionID.map { try transaction($0, call).account }
    let first = world.firstNotification(from: Instant(millisecondsSince1970: query.start))
    let found = (first..<world.notifications.count).filter { index in
      let notification = world.notifications[index]
      return notification.app == call.app.id && query.admits(notification)
        && (customer == nil || notification.transaction?.account == customer)
    }
    return try notificationPage(found, body, after: call.query["paginationToken"])
  }

  /// The page after a token; without one, the first.
  private func notificationPage(_ found: [Int], _ body: JSONObject, after text: String?) throws -> JSONObject
  {
    let now = clock.machineNow()
    var rest = found[...]
    if let text, !text.isEmpty {
      if faults.take(.tokenExpired) != nil { throw ServerAPIError.paginationTokenExpired }
      let token = try HistoryPageToken(text, body: body, at: now)
      rest = rest.drop { $0 <= token.index }
    }
    let page = rest.prefix(Self.pageSize)
    let hasMore = page.count < rest.count
    return JSONObject(present: [
      (
        "paginationToken",
        hasMore
          ? page.last.map { .string(HistoryPageToken(index: $0, issued: now, body: body).text) } : nil
      ),
      ("hasMore", .bool(hasMore)),
      ("notificationHistory", .array(try page.map { .object(try entry(world.notifications[$0])) })),
    ])
  }

  /// A notification with the results of its attempts.
  private func entry(_ notification: SandboxNotification) throws -> JSONObject {
    [
      "sendAttempts": .array(
        notification.attempts.map {
          ["attemptDate": JSONValue($0.date), "sendAttemptResult": .string($0.result.rawValue)]
        }),
      "signedPayload": .string(try signedPayload(of: notification)),
    ]
  }

  /// Handles Request a Test Notification.
  func testNotification(_ call: ServerAPICall) throws -> JSONObject {
    guard world.settings[call.app.id]?.notificationTarget != nil else {
      throw ServerAPIError.notificationURLNotFound
    }
    let outcome = try perform(.testNotification, Parameters(["app": .string(call.app.id)]))
    return JSONObject(outcome.members.map { ($0.0, .string($0.1)) })
  }

  /// Handles Get Test Notification Status; before the first attempt, the notification is not found.
  func testNotificationStatus(_ call: ServerAPICall, _ token: String) throws -> JSONObject {
    guard token.isUUID else { throw ServerAPIError.invalidTestNotificationToken }
    let notification = world.notifications.last {
      $0.uuid == token && $0.app == call.app.id && $0.type == .test
    }
    guard let notification, !notification.attempts.isEmpty else {
      throw ServerAPIError.testNotificationNotFound
    }
    return try entry(notification)
  }
}
