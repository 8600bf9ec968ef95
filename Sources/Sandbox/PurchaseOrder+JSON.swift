internal import AppStore
internal import JSON

extension PurchaseOrder {
  private static let members = [
    "app", "productId", "appAccountToken", "account", "quantity", "purchaseDate",
  ]

  /// Reads an order from the body of a request. A member that is not known is an error: it is more
  /// likely a mistyped one than one to ignore.
  init(body: [UInt8]) throws(PurchaseRefusal) {
    let json = try Self.object(body)
    for (name, _) in json where !Self.members.contains(name) {
      throw .unknownMember(name, known: Self.members)
    }
    guard let app = try Self.string("app", in: json) else { throw .missingMember("app") }
    guard let productId = try Self.string("productId", in: json) else { throw .missingMember("productId") }
    self.init(
      app: app, productId: productId, appAccountToken: try Self.string("appAccountToken", in: json),
      account: try Self.string("account", in: json), quantity: try Self.quantity(in: json),
      purchaseDate: try Self.purchaseDate(in: json))
  }

  private static func object(_ body: [UInt8]) throws(PurchaseRefusal) -> JSONObject {
    let value: JSONValue
    do { value = try JSONValue(parsing: body) } catch { throw .malformedJSON(error.description) }
    guard case .object(let object) = value else { throw .malformedJSON("it is another value") }
    return object
  }

  private static func string(_ member: String, in json: JSONObject) throws(PurchaseRefusal) -> String? {
    guard let value = json[member], !value.isNull else { return nil }
    guard let text = value.stringValue, !text.isEmpty else {
      throw .wrongType(member: member, expected: "a string with something in it")
    }
    return text
  }

  private static func quantity(in json: JSONObject) throws(PurchaseRefusal) -> Int64 {
    guard let value = json["quantity"], !value.isNull else { return 1 }
    guard let quantity = value.int64Value else {
      throw .wrongType(member: "quantity", expected: "an integer")
    }
    return quantity
  }

  /// Milliseconds since 1970, as Apple writes dates, or RFC 3339, as people do.
  private static func purchaseDate(in json: JSONObject) throws(PurchaseRefusal) -> Instant? {
    guard let value = json["purchaseDate"], !value.isNull else { return nil }
    if let text = value.stringValue, let instant = Instant(rfc3339: text) { return instant }
    guard let milliseconds = value.int64Value, milliseconds >= 0 else {
      throw .wrongType(
        member: "purchaseDate", expected: "a number of milliseconds since 1970 or an RFC 3339 date and time")
    }
    return Instant(millisecondsSince1970: milliseconds)
  }
}
