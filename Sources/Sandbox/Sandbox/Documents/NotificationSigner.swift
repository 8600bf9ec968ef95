internal import AppStore
internal import JSON
internal import SignedData

/// The signer of version 2 notifications. They are signed for each attempt, with the documents as of their dates.
struct NotificationSigner {
  let world: World
  let signer: JWSSigner

  /// Returns the signed payload with the documents as of the notification's date.
  func signed(_ notification: SandboxNotification) throws(CryptographyError) -> String {
    var payload = JSONObject(present: [
      ("notificationType", .string(notification.type.rawValue)),
      ("subtype", notification.subtype.map { .string($0.rawValue) }),
      ("notificationUUID", .string(notification.uuid)),
      ("version", "2.0"),
      ("signedDate", JSONValue(notification.date)),
    ])
    let (name, content) = try content(of: notification)
    let future = world.futureDocuments(of: notification.app)
    payload[name] = .object(future.applied(to: content, .part))
    return try signer.sign(payload: future.applied(to: payload, .notification))
  }

  /// The member of the payload that the type of the notification has, with its name.
  private func content(of notification: SandboxNotification) throws(CryptographyError) -> (String, JSONObject)
  {
    switch notification.subject {
    case .purchase(let transaction, _, _) where notification.type == .rescindConsent:
      return ("appData", try appData(notification, transaction.account))
    case .purchase(let transaction, let line, let reason):
      return ("data", try data(notification, transaction, line, reason))
    case .massExtension(let result): return ("summary", summary(result, app: notification.app))
    case .unclaimedSeats(let transaction, let seats):
      var content = base(of: notification.app)
      content["originalTransactionId"] = .string(String(transaction.originalID))
      content["unclaimSeatIds"] = .array(seats.map(JSONValue.string))
      return ("unclaimInfo", content)
    case .externalPurchase(let token):
      return ("externalPurchaseToken", token.json(world.app(notification.app)?.identity))
    case .test: return ("data", base(of: notification.app))
    }
  }

  /// The members that each kind of content has.
  private func base(of app: String) -> JSONObject {
    JSONObject(present: [
      ("bundleId", world.app(app).map { .string($0.identity.bundleID) }),
      ("environment", .string(Environment.sandbox.rawValue)),
    ])
  }

  /// The content about a purchase, with its signed documents.
  private func data(
    _ notification: SandboxNotification, _ transaction: SoldTransaction, _ line: SubscriptionLine?,
    _ reason: ConsumptionRequestReason?
  ) throws(CryptographyError) -> JSONObject {
    var data = base(of: notification.app)
    data["bundleVersion"] = .string(notification.circumstances?.install?.version ?? "1.0")
    data["signedTransactionInfo"] = .string(
      try signer.sign(payload: world.payload(of: transaction, signed: notification.date)))
    if let line {
      data["signedRenewalInfo"] = .string(
        try signer.sign(
          payload: world.payload(of: line, signed: notification.date, in: notification.circumstances)))
      data["status"] = JSONValue(line.appleStatus.rawValue)
    }
    if let reason { data["consumptionRequestReason"] = .string(reason.rawValue) }
    return data
  }

  /// The content about an app install.
  private func appData(_ notification: SandboxNotification, _ account: String) throws(CryptographyError)
    -> JSONObject
  {
    var content = base(of: notification.app)
    if let install = notification.circumstances?.install,
      let payload = world.appTransaction(
        of: account, in: notification.app, install, signed: notification.date)
    {
      content["signedAppTransactionInfo"] = .string(try signer.sign(payload: payload))
    }
    return content
  }

  /// The counts of a completed mass extension.
  private func summary(_ result: MassExtension, app: String) -> JSONObject {
    var summary = base(of: app)
    summary["requestIdentifier"] = .string(result.requestIdentifier)
    summary["productId"] = .string(result.productID)
    if !result.storefronts.isEmpty {
      summary["storefrontCountryCodes"] = .array(result.storefronts.map(JSONValue.string))
    }
    summary["succeededCount"] = JSONValue(result.succeeded)
    summary["failedCount"] = JSONValue(result.failed)
    return summary
  }
}
