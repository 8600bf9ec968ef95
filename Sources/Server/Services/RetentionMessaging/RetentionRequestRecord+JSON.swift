internal import AppStore
internal import Entitlements
internal import JSON
internal import Store

extension [RetentionRequestRecord] {
  /// The requests as JSON in the inbox.
  var encoded: [UInt8] { JSONValue.array(map { .object($0.object) }).serialized() }

  /// - Returns: `nil` for bytes that are not encoded requests.
  init?(decoding bytes: [UInt8]) {
    guard let objects = try? JSONValue(parsing: bytes).arrayValue else { return nil }
    self = objects.compactMap { $0.objectValue.flatMap(RetentionRequestRecord.init) }
  }
}

extension RetentionRequestRecord {
  fileprivate var object: JSONObject {
    var object: JSONObject = [
      "request": .string(requestID), "line": .string(line.lineID), "app": .string(line.appID),
      "environment": .string(line.environment.rawValue), "product": .string(productID),
      "renewalProduct": .string(renewalProductID), "locale": .string(locale),
      "askedAt": JSONValue(askedAt.millisecondsSince1970),
      "receivedAt": JSONValue(receivedAt.millisecondsSince1970), "answer": .string(answer.rawValue),
      "reason": .string(reason.rawValue), "rule": .string(rule), "message": .string(messageID),
      "offeredProduct": .string(offeredProductID), "offer": .string(offerID),
      "microseconds": JSONValue(microseconds),
    ]
    if let dueAt { object["dueAt"] = JSONValue(dueAt.millisecondsSince1970) }
    return object
  }

  /// Decodes a request that was not evaluated yet.
  fileprivate init?(_ object: JSONObject) {
    func text(_ name: String) -> String { object[name]?.stringValue ?? "" }
    func instant(_ name: String) -> Instant? {
      object[name]?.int64Value.map { Instant(millisecondsSince1970: $0) }
    }
    guard let environment = AppStore.Environment(rawValue: text("environment")),
      let answer = AnswerKind(rawValue: text("answer")),
      let reason = RetentionReason(rawValue: text("reason")), let askedAt = instant("askedAt"),
      let receivedAt = instant("receivedAt")
    else { return nil }
    self.init(
      requestID: text("request"),
      line: LineKey(appID: text("app"), environment: environment, lineID: text("line")),
      productID: text("product"), askedAt: askedAt, receivedAt: receivedAt)
    renewalProductID = text("renewalProduct")
    locale = text("locale")
    self.answer = answer
    self.reason = reason
    rule = text("rule")
    messageID = text("message")
    offeredProductID = text("offeredProduct")
    offerID = text("offer")
    microseconds = object["microseconds"]?.int64Value ?? 0
    dueAt = instant("dueAt")
  }
}
