internal import AppStore
internal import HTTP
internal import JSON

// The views as JSON.
extension AppStoreSimulator {
  /// The number of entries of a page, by default and at most.
  private static let maxJournalPage = 1_000

  /// The next change and its time; without one, an empty object.
  var nextEventJSON: JSONObject {
    guard let next = clockView().next else { return [:] }
    return JSONObject(present: [
      ("at", .string(next.at.description)), ("kind", .string(next.kind.rawValue)),
      ("account", next.account.map(JSONValue.string)), ("productId", next.productId.map(JSONValue.string)),
    ])
  }

  /// A page of the journal: `?after=&limit=`.
  func journalJSON(_ query: Query) throws(ActionError) -> JSONObject {
    let limit = query["limit"].map { Int($0) ?? 0 } ?? Self.maxJournalPage
    guard (1...Self.maxJournalPage).contains(limit) else {
      throw .wrongType(member: "limit", expected: "between 1 and \(Self.maxJournalPage)")
    }
    let (views, total, first) = journalViews(after: query["after"].flatMap { Int($0) } ?? 0, limit: limit)
    return [
      "first": JSONValue(Int64(first)), "last": JSONValue(Int64(total)),
      "journal": .array(views.map { .object($0.json) }),
    ]
  }

  /// One notification with its payload, body and attempts.
  func notificationResponse(_ uuid: String) -> HTTPResponse {
    guard let (view, body) = notificationView(uuid) else {
      return .error(404, code: "NOT_FOUND", message: "unknown notification \(uuid.debugDescription)")
    }
    var json = view.json
    json["payload"] = body.map { .object($0.payload) }
    json["body"] = body.map { .string($0.body) }
    return .json(json)
  }

  /// The settings of an app: `?app=`.
  func settingsJSON(_ id: String?) throws(ActionError) -> JSONObject {
    guard let app = id.flatMap({ world.app($0) }) else { throw .unknownApp(id ?? "", known: apps.map(\.id)) }
    let settings = settingsView(of: app.id)
    return JSONObject(present: [
      ("notificationUrl", settings.notificationURL.map(JSONValue.string)),
      ("notificationVersion", JSONValue(settings.notificationVersion)), ("rules", .string(settings.rules)),
      ("delays", .bool(settings.hasDelays)), ("gracePeriodDays", JSONValue(settings.graceDays)),
      ("gracePeriodRenewalType", .string(settings.graceScope)),
      ("hasSharedSecret", .bool(settings.hasSharedSecret)),
      ("realtimeUrl", settings.realtimeURL.map(JSONValue.string)),
      ("chargeLeadMilliseconds", JSONValue(settings.chargeLead)),
      ("failureDelayMilliseconds", JSONValue(settings.failureDelay)),
      ("staleFailures", JSONValue(settings.staleFailures)),
    ])
  }
}

extension NotificationView {
  fileprivate var json: JSONObject {
    JSONObject(present: [
      ("notificationUUID", .string(uuid)), ("app", .string(app)), ("name", .string(name)),
      ("version", JSONValue(version)), ("date", .string(date.description)),
      ("account", account.map(JSONValue.string)), ("productId", productId.map(JSONValue.string)),
      ("transactionId", transactionId.map(JSONValue.string)),
      ("attempts", .array(attempts.map { .object($0.json) })),
      ("nextAttempt", nextAttempt.map { .string($0.description) }),
    ])
  }
}

extension AttemptView {
  fileprivate var json: JSONObject {
    JSONObject(present: [
      ("date", .string(date.description)), ("result", .string(result.rawValue)),
      ("url", url.map(JSONValue.string)), ("status", status.map { JSONValue(Int64($0)) }),
      ("milliseconds", milliseconds.map { JSONValue($0) }), ("response", response.map(JSONValue.string)),
    ])
  }
}

extension JournalLineView {
  fileprivate var json: JSONObject {
    var json: JSONObject = ["line": JSONValue(Int64(number)), "at": .string(at.description)]
    switch entry {
    case .opened: json["opened"] = true
    case .passed: json["passed"] = true
    case .action(let action, let members):
      json["action"] = .string(action.rawValue)
      json["with"] = .object(members)
    case .advanced(let instant): json["advanced"] = .string(instant.description)
    case .speed(let speed): json["speed"] = JSONValue(speed)
    case .attempt(let uuid, let result):
      json["attempt"] = .string(uuid)
      json["result"] = .string(result.rawValue)
    case .postponed(let uuid, let instant):
      json["postponed"] = .string(uuid)
      json["to"] = .string(instant.description)
    }
    if !notifications.isEmpty { json["notifications"] = .array(notifications.map { .string($0.name) }) }
    return json
  }
}
