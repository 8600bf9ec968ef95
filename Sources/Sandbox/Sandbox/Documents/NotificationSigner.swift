internal import AppStore
internal import JSON
internal import SignedData

/// Notifications of version 2.
struct NotificationSigner {
  let world: World
  let signer: JWSSigner

  /// The signed payload: what happened, with the documents as they were then.
  func signed(_ notice: SandboxNotification) throws(CryptographyError) -> String {
    var payload = JSONObject(present: [
      ("notificationType", .string(notice.type.rawValue)),
      ("subtype", notice.subtype.map { .string($0.rawValue) }),
      ("notificationUUID", .string(notice.uuid)),
      ("version", "2.0"),
      ("signedDate", JSONValue(notice.date)),
    ])
    let (name, content) = try content(of: notice)
    payload[name] = .object(content)
    return try signer.sign(payload: payload)
  }

  private func content(of notice: SandboxNotification) throws(CryptographyError) -> (String, JSONObject) {
    switch notice.subject {
    case .purchase(let transaction, _, _) where notice.type == .rescindConsent:
      return ("appData", try appData(notice, transaction.account))
    case .purchase(let transaction, let line, let reason):
      return ("data", try data(notice, transaction, line, reason))
    case .massExtension(let result): return ("summary", summary(result, app: notice.app))
    case .unclaimedSeats(let transaction, let seats):
      var content = base(of: notice.app)
      content["originalTransactionId"] = .string(String(transaction.originalID))
      content["unclaimSeatIds"] = .array(seats.map(JSONValue.string))
      return ("unclaimInfo", content)
    case .test: return ("data", base(of: notice.app))
    }
  }

  private func base(of app: String) -> JSONObject {
    JSONObject(present: [
      ("bundleId", world.app(app).map { .string($0.identity.bundleID) }),
      ("environment", .string(Environment.sandbox.rawValue)),
    ])
  }

  private func data(
    _ notice: SandboxNotification, _ transaction: SoldTransaction, _ line: SubscriptionLine?,
    _ reason: ConsumptionRequestReason?
  ) throws(CryptographyError) -> JSONObject {
    var data = base(of: notice.app)
    let version = world.accounts[transaction.account]?.copies[notice.app]?.version ?? "1.0"
    data["bundleVersion"] = .string(version)
    data["signedTransactionInfo"] = .string(
      try signer.sign(payload: world.payload(of: transaction, signed: notice.date)))
    if let line {
      data["signedRenewalInfo"] = .string(
        try signer.sign(payload: world.payload(of: line, signed: notice.date)))
      data["status"] = JSONValue(line.status.rawValue)
    }
    if let reason { data["consumptionRequestReason"] = .string(reason.rawValue) }
    return data
  }

  private func appData(_ notice: SandboxNotification, _ account: String) throws(CryptographyError)
    -> JSONObject
  {
    var content = base(of: notice.app)
    if let payload = world.appTransaction(of: account, in: notice.app, signed: notice.date) {
      content["signedAppTransactionInfo"] = .string(try signer.sign(payload: payload))
    }
    return content
  }

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
