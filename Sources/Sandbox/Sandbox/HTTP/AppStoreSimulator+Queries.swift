internal import AppStore
internal import HTTP
internal import JSON
internal import SignedData

// The state of the world, as testers read it over HTTP.
extension AppStoreSimulator {
  /// A transaction by its id or a reference; with `?latest=true` the latest one of its subscription.
  func transactionJSON(_ name: String, _ query: Query) throws -> JSONObject {
    catchUp()
    let sold = try world.transaction(Parameters(["transactionId": .string(name)]))
    let line = world.lines[sold.originalID]
    let id = query["latest"] == "true" ? line?.current ?? sold.id : sold.id
    guard var json = try purchase(id)?.json else { throw ActionError.unknownTransaction(name) }
    if let line { json["status"] = JSONValue(line.appleStatus.rawValue) }
    return json
  }

  /// The simulated time and its speed.
  var clockState: JSONObject {
    let now = clock.now()
    return [
      "now": .string(now.description), "milliseconds": JSONValue(now),
      "speed": JSONValue(clock.setting.speed),
    ]
  }

  /// The notifications with their delivery attempts.
  var notifications: JSONObject {
    catchUp()
    return [
      "notifications": .array(
        world.notifications.map { notification in
          .object(
            JSONObject(present: [
              ("notificationUUID", .string(notification.uuid)), ("app", .string(notification.app)),
              ("name", .string(notification.name)), ("version", JSONValue(notification.version)),
              ("date", .string(notification.date.description)),
              ("transactionId", notification.transaction.map { .string(String($0.id)) }),
              ("attempts", .array(notification.attempts.map { .string($0.result.rawValue) })),
              ("nextAttempt", notification.nextAttempt.map { .string($0.description) }),
            ]))
        })
    ]
  }

  /// Returns the products that every account owns, as the reference for comparisons.
  func owners(_ app: String?) throws(ActionError) -> JSONObject {
    catchUp()
    guard let app = app.flatMap({ world.app($0) }) else {
      throw .unknownApp(app ?? "", known: apps.map(\.id))
    }
    let accounts = world.accounts.keys.sorted().filter { world.accounts[$0]?.appInstalls[app.id] != nil }
    return [
      "now": .string(world.now.description), "milliseconds": JSONValue(world.now),
      "owners": .array(
        accounts.map { account in
          [
            "account": .string(account),
            "owned": .array(
              world.ownedProducts(of: account, in: app.id).map {
                [
                  "productId": .string($0.productID), "originalTransactionId": .string(String($0.originalID)),
                ]
              }),
          ]
        }),
    ]
  }

  /// Returns the app receipt of an account. An unknown account has a receipt without purchases.
  func receipt(_ name: String, _ id: String?) -> HTTPResponse {
    catchUp()
    guard let app = apps.first(where: { id == nil || $0.id == id }) else {
      return .error(404, code: "NOT_FOUND", message: "unknown app \((id ?? "").debugDescription)")
    }
    do {
      return .json(["receipt": .string(try receiptDocument.appReceipt(of: name, in: app))])
    } catch {
      return .error(500, code: "INTERNAL", message: "\(error)")
    }
  }

  /// Returns the purchases of an account in one app, or in all.
  func account(_ name: String, _ app: String?) -> HTTPResponse {
    catchUp()
    guard world.accounts[name] != nil else {
      return .error(404, code: "NOT_FOUND", message: "unknown account \(name.debugDescription)")
    }
    return .json(account(name, in: apps.filter { app == nil || $0.id == app }))
  }

  /// Returns the purchases of an account in some apps.
  func account(_ name: String, in apps: [SandboxApp]) -> JSONObject {
    [
      "account": .string(name),
      "apps": .array(
        apps.map { app in
          [
            "app": .string(app.id),
            "appTransactionId": .string(appTransactionID(app: app.id, account: name)),
            "transactions": .array(
              world.purchases(of: name, in: app.id).map { .object(world.presentPayload(of: $0)) }),
            "subscriptions": .array(
              world.subscriptions(of: name, in: app.id).map { line in
                var json = world.presentPayload(of: line)
                json["status"] = JSONValue(line.appleStatus.rawValue)
                return .object(json)
              }),
          ]
        }),
    ]
  }
}
