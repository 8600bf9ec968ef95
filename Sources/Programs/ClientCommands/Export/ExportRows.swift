internal import AppStore
internal import JSON
internal import Wire

/// The kinds of rows of an export; the raw values are the names of their directories.
enum ExportKind: String, CaseIterable {
  /// The events that `Watch` sends; their number is the sequence in their app.
  case events
  /// The postings that `ListPostings` sends; their number is that in the store.
  case postings
}

/// A column of exported rows.
struct ExportColumn {
  /// The type of its values. Only `optionalNumber` can be null: an absent text is empty.
  enum Kind {
    case text, number, optionalNumber, flag, time
  }

  let name: String
  let kind: Kind
  let description: String

  init(_ name: String, _ kind: Kind, _ description: String) {
    (self.name, self.kind, self.description) = (name, kind, description)
  }
}

extension ExportKind {
  /// The schema of a row (JSON Schema 2020-12).
  var schema: JSONObject {
    let properties = columns.map { column -> (String, JSONValue) in
      var property: JSONObject = ["description": .string(column.description)]
      switch column.kind {
      case .text: property["type"] = "string"
      case .number: property["type"] = "integer"
      case .optionalNumber: property["type"] = ["integer", "null"]
      case .flag: property["type"] = "boolean"
      case .time:
        property["type"] = "string"
        property["format"] = "date-time"
      }
      return (column.name, .object(property))
    }
    return [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": .string("A line of \(rawValue)/known_day=*/*.ndjson.gz"), "type": "object",
      "properties": .object(JSONObject(properties)),
      "required": .array(columns.map { .string($0.name) }), "additionalProperties": false,
    ]
  }

  /// The columns of a row; each row has all of them.
  var columns: [ExportColumn] {
    switch self {
    case .events: Self.eventColumns
    case .postings: Self.postingColumns
    }
  }

  private static let eventColumns = [
    ExportColumn("sequence", .number, "The sequence of the event in its app, from 1."),
    ExportColumn("environment", .text, "Production, Sandbox, Xcode or LocalTesting."),
    ExportColumn("customer_id", .text, "The operator's id of the customer."),
    ExportColumn("entitlement", .text, "Empty for an event about no entitlement."),
    ExportColumn("type", .text, "The type, such as STARTED or RENEWED."),
    ExportColumn("effective_at", .time, "When it became true."),
    ExportColumn("recorded_at", .time, "When the service recorded it."),
    ExportColumn("was_entitled", .flag, "Whether the customer was entitled before."),
    ExportColumn("is_entitled", .flag, "Whether the customer is entitled after it."),
    ExportColumn("reason", .text, "The reason of the entitlement after it."),
    ExportColumn("transaction_id", .text, "The transaction that the event is about; empty: none."),
    ExportColumn("original_transaction_id", .text, "The purchase of that transaction."),
    ExportColumn("product_id", .text, "The product of that transaction."),
    ExportColumn("quantity", .number, "The quantity of that transaction; 0: none."),
    ExportColumn("price", .optionalNumber, "The price of that transaction in thousandths of the currency."),
    ExportColumn("currency", .text, "ISO 4217; empty without a price."),
    ExportColumn("evidence_id", .optionalNumber, "The evidence that caused it; null: time alone did."),
    ExportColumn("actor", .text, "The person or service of the operator that caused it; empty: none."),
    ExportColumn(
      "erased_customer_id", .text,
      "Of CUSTOMER_ERASED: the id that the pseudonym in customer_id replaces, as far as it is known."),
    ExportColumn(
      "segment", .text, "The saved segment that the purchase entered or left, or that changed; empty: none."),
    ExportColumn("explanation", .text, "The event as a sentence."),
  ]

  private static let postingColumns = [
    ExportColumn("number", .number, "The number among the postings of the store; it grows."),
    ExportColumn("kind", .text, "What it counts, such as ACTIVE, RENEWED or CHARGE."),
    ExportColumn(
      "is_stock", .flag,
      "Whether the sum of all postings of the kind up to a time is the number at that time."),
    ExportColumn("effective_at", .time, "When it was so, by Apple's documents."),
    ExportColumn("known_at", .time, "When it became known."),
    ExportColumn("cause", .text, "How it became known, such as LATE_NOTIFICATION or TIME."),
    ExportColumn("original_transaction_id", .text, "The purchase."),
    ExportColumn("transaction_id", .text, "The transaction of the purchase or period."),
    ExportColumn("product_id", .text, "The App Store product id."),
    ExportColumn("subscription_group", .text, "The group by its name in the catalog; empty: none."),
    ExportColumn("storefront", .text, "The country, ISO 3166-1 alpha-3; empty: unknown."),
    ExportColumn("offer_kind", .text, "Such as INTRODUCTORY_FREE_TRIAL; empty for the standard price."),
    ExportColumn("reason", .text, "Why; the values depend on the kind."),
    ExportColumn("units", .number, "Of a stock the difference, of anything else how often it happened."),
    ExportColumn(
      "amount", .number,
      "Thousandths of the currency; of ACTIVE and the movements of subscriptions, thousandths a year."),
    ExportColumn("proceeds", .number, "The estimated part of the operator, in thousandths."),
    ExportColumn("currency", .text, "ISO 4217; empty without an amount."),
  ]
}

extension EntitlementEvent {
  /// The row of an export, with the columns of ``ExportKind/events``.
  var exportRow: JSONObject {
    [
      "sequence": JSONValue(sequence),
      "environment": .string(ExportScope.name(of: environment)), "customer_id": .string(customerId),
      "entitlement": .string(entitlement), "type": .string(type), "effective_at": .string(effectiveAt.text),
      "recorded_at": .string(recordedAt.text), "was_entitled": .bool(before?.entitled ?? false),
      "is_entitled": .bool(after?.entitled ?? false), "reason": .string(after?.reason ?? ""),
      "transaction_id": .string(transactionId), "original_transaction_id": .string(originalTransactionId),
      "product_id": .string(productId), "quantity": JSONValue(Int64(quantity)),
      "price": price.map { JSONValue($0.milliunits) } ?? .null, "currency": .string(price?.currency ?? ""),
      "evidence_id": evidenceId.map { JSONValue($0) } ?? .null, "actor": .string(actor),
      "erased_customer_id": .string(erasedCustomerId), "segment": .string(segment),
      "explanation": .string(explanation),
    ]
  }
}

extension ReportPosting {
  /// The row of an export, with the columns of ``ExportKind/postings``.
  var exportRow: JSONObject {
    [
      "number": JSONValue(number), "kind": .string(kind), "is_stock": .bool(stock),
      "effective_at": .string(effectiveAt.text), "known_at": .string(knownAt.text), "cause": .string(cause),
      "original_transaction_id": .string(originalTransactionId), "transaction_id": .string(transactionId),
      "product_id": .string(productId), "subscription_group": .string(subscriptionGroup),
      "storefront": .string(storefront), "offer_kind": .string(offerKind), "reason": .string(reason),
      "units": JSONValue(units), "amount": JSONValue(amount), "proceeds": JSONValue(proceeds),
      "currency": .string(currency),
    ]
  }
}

/// Names of environments in exports.
enum ExportScope {
  /// Apple's name of an environment; empty for one that this version does not know.
  static func name(of environment: Wire.Environment) -> String {
    switch environment {
    case .production: "Production"
    case .sandbox: "Sandbox"
    case .xcode: "Xcode"
    case .localTesting: "LocalTesting"
    case .unspecified, .unrecognized: ""
    }
  }
}
