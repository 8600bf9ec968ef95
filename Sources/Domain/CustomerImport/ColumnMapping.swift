internal import AppStore
package import JSON

/// The meaning of a table's columns, and the translation of its words to those of the catalog.
package struct ColumnMapping: Hashable, Sendable {
  /// The meaning of a column.
  package enum Field: String, Hashable, Sendable, CaseIterable {
    /// The operator's id of the customer.
    case customerID = "customer_id"
    /// Further ids of the customer.
    case aliases
    /// The store of the purchase.
    case store
    /// The id of the purchase in its store; for the App Store, that of any of its transactions.
    case purchaseID = "purchase_id"
    /// The product, as its store names it.
    case productID = "product_id"
    /// The entitlements that the purchase grants.
    case entitlements
    /// The beginning of access.
    case since
    /// The end of access; empty for none.
    case until
    /// When the purchase was refunded; empty if it was not.
    case refundedAt = "refunded_at"
    /// The number of the state of the purchase; of two states the higher one counts.
    case revision
    /// Whether the purchase is of a test environment.
    case sandbox
  }

  /// The columns of each field; the first one that is not empty counts, and all of ``Field/aliases``.
  package var columns: [Field: [String]] = [:]
  /// The column of ``Field/purchaseID`` that names a transaction of the purchase, and not the purchase.
  package var transactionColumn: String?
  /// The separator of columns; `nil` detects it.
  package var separator: UInt8?
  /// The separator of the values in one column, for lists that are no JSON.
  package var listSeparator: Character = ","
  /// The columns with attributes, by the name of the attribute.
  package var attributes: [String: String] = [:]
  /// The columns with a JSON object of attributes.
  package var attributeObjects: [String] = []
  /// The store of lines without one.
  package var defaultStore = "app_store"
  /// `app_store` or the source of grants, by the names of stores in the export.
  package var stores: [String: String] = [:]
  /// The names of entitlements here, by their names in the export.
  package var entitlements: [String: String] = [:]

  package init() {}

  /// The scheduled export of transactions of RevenueCat, versions 3 and later.
  package static let revenueCat: ColumnMapping = {
    var mapping = ColumnMapping()
    mapping.columns = [
      .customerID: ["rc_original_app_user_id"], .aliases: ["rc_last_seen_app_user_id_alias"],
      .store: ["store"], .purchaseID: ["original_store_transaction_id", "store_transaction_id"],
      .productID: ["product_identifier"], .entitlements: ["entitlement_identifiers"],
      .since: ["start_time"], .until: ["effective_end_time", "grace_period_end_time", "end_time"],
      .refundedAt: ["refunded_at"], .revision: ["updated_at"], .sandbox: ["is_sandbox"],
    ]
    mapping.transactionColumn = "store_transaction_id"
    mapping.stores = ["play_store": "play"]
    mapping.attributeObjects = ["reserved_subscriber_attributes", "custom_subscriber_attributes"]
    return mapping
  }()

  /// Reads the lines of `table`.
  ///
  /// - Returns: the rows, and the lines that cannot be read.
  /// - Throws: ``ImportError/noColumn(_:found:)`` if the table has no column with the customer.
  package func rows(
    of table: SeparatedValues
  ) throws(ImportError) -> (rows: [ImportRow], unreadable: [ImportOmission]) {
    let wanted = columns[.customerID] ?? []
    guard wanted.contains(where: table.header.contains) else {
      throw .noColumn(wanted.joined(separator: " or "), found: table.header)
    }
    let positions = Dictionary(
      table.header.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    var (rows, unreadable): ([ImportRow], [ImportOmission]) = ([], [])
    for line in table.lines {
      guard !line.isUnclosed else {
        unreadable.append(
          ImportOmission(
            line: line.number, .malformedLine,
            detail: "a quoted field has no end, so this line and all below it are left out"))
        continue
      }
      guard line.fields.count == table.header.count else {
        unreadable.append(
          ImportOmission(
            line: line.number, .malformedLine,
            detail: "\(line.fields.count) columns, but the header has \(table.header.count)"))
        continue
      }
      do throws(ImportOmission) {
        rows.append(try row(ColumnValues(mapping: self, positions: positions, line: line)))
      } catch {
        unreadable.append(error)
      }
    }
    return (rows, unreadable)
  }

  /// Reads one line. A value of another form leaves the line out; an object of attributes that
  /// cannot be read only its attributes.
  private func row(_ values: ColumnValues) throws(ImportOmission) -> ImportRow {
    var row = ImportRow()
    row.line = values.line.number
    row.customerID = values[.customerID] ?? ""
    row.aliases = (columns[.aliases] ?? []).flatMap { column in
      values.list(values.text(column) ?? "")
    }
    row.statesLastSeen = true
    row.store = values[.store] ?? defaultStore
    row.purchaseID = values[.purchaseID] ?? ""
    row.namesAnyTransaction = transactionColumn != nil && values.column(of: .purchaseID) == transactionColumn
    row.productID = values[.productID] ?? ""
    row.entitlements = values.list(values[.entitlements] ?? "")
    row.since = try values.time(.since)
    row.until = try values.time(.until)
    row.refundedAt = try values.time(.refundedAt)
    row.revision = try values.revision()
    row.isSandbox = try values.isSandbox()
    for (name, column) in attributes.sorted(by: { $0.key < $1.key }) {
      guard let value = values.text(column) else { continue }
      row.attributes.append(ImportedAttribute(name: name, value: value))
    }
    for column in attributeObjects {
      guard let text = values.text(column) else { continue }
      guard let object = ColumnValues.json(text)?.objectValue else {
        row.unreadableAttributes.append(column)
        continue
      }
      row.attributes += ImportedAttribute.list(ofSubscriber: object)
    }
    return row
  }
}

/// The values of one line by their fields.
private struct ColumnValues {
  let mapping: ColumnMapping
  let positions: [String: Int]
  let line: SeparatedValues.Line

  /// The value of a column; `nil` if the column is missing or has none.
  func text(_ column: String) -> String? {
    guard let position = positions[column] else { return nil }
    let text = line.fields[position]
    // Snowflake, which writes RevenueCat's exports, has \N for null.
    return text.isEmpty || text == "\\N" || text == "null" ? nil : text
  }

  /// The first column of a field that has a value.
  func column(of field: ColumnMapping.Field) -> String? {
    mapping.columns[field]?.first { text($0) != nil }
  }

  subscript(field: ColumnMapping.Field) -> String? { column(of: field).flatMap(text) }

  /// The JSON of a column, also if its quotes have backslashes like the content of a JSON string; `nil` if it is none.
  static func json(_ text: String) -> JSONValue? {
    if let value = try? JSONValue(parsing: Array(text.utf8)) { return value }
    let content = (try? JSONValue(parsing: Array("\"\(text)\"".utf8)))?.stringValue
    return content.flatMap { try? JSONValue(parsing: Array($0.utf8)) }
  }

  /// The values of a JSON array, or of a list in brackets or without.
  func list(_ text: String) -> [String] {
    if text.hasPrefix("["), let values = Self.json(text)?.arrayValue {
      return values.compactMap { value -> String? in
        // Ids of customers may be numbers.
        if case .number(let number) = value { return number.literal }
        return value.stringValue
      }.filter { !$0.isEmpty }
    }
    let inner = text.drop { $0 == "[" || $0 == "{" }
    let end = inner.lastIndex { $0 != "]" && $0 != "}" }.map { inner.index(after: $0) } ?? inner.startIndex
    return inner[..<end].split(separator: mapping.listSeparator).map { part in
      String(part).trimmed("\"' ")
    }.filter { !$0.isEmpty }
  }

  func time(_ field: ColumnMapping.Field) throws(ImportOmission) -> Instant? {
    guard let text = self[field] else { return nil }
    guard let instant = ImportTime.parse(text) else {
      throw ImportOmission(line: line.number, .malformedLine, detail: "\(field.rawValue) is no time: \(text)")
    }
    return instant
  }

  /// Whether the purchase is of a test environment; `nil` without a value. Another word leaves the line out: a test purchase
  /// must not give access in production.
  func isSandbox() throws(ImportOmission) -> Bool? {
    guard let text = self[.sandbox] else { return nil }
    switch text.lowercased() {
    case "true", "t", "yes", "y", "1", "sandbox": return true
    case "false", "f", "no", "n", "0", "production": return false
    default:
      throw ImportOmission(
        line: line.number, .malformedLine, detail: "sandbox is neither true nor false: \(text)")
    }
  }

  /// A number, or a time, which counts in milliseconds.
  func revision() throws(ImportOmission) -> Int64? {
    guard let text = self[.revision] else { return nil }
    if let number = Int64(text), number > 0 { return number }
    return try time(.revision)?.millisecondsSince1970
  }
}

extension String {
  fileprivate func trimmed(_ characters: String) -> String {
    guard let first = firstIndex(where: { !characters.contains($0) }),
      let last = lastIndex(where: { !characters.contains($0) })
    else { return "" }
    return String(self[first...last])
  }
}

extension ImportedAttribute {
  /// The prefix that replaces the `$` of RevenueCat's reserved attributes, which names of attributes here cannot have.
  package static let reservedPrefix = "rc:"

  /// RevenueCat's subscriber attributes: `{"$email": {"value": "…", "updated_at_ms": 1}}`. Attributes without a value
  /// were deleted.
  package static func list(ofSubscriber object: JSONObject) -> [ImportedAttribute] {
    object.compactMap { name, value in
      let content = value.objectValue?["value"] ?? value
      guard let text = content.stringValue ?? (content.isNull ? nil : scalar(content)), !text.isEmpty else {
        return nil
      }
      return ImportedAttribute(
        name: localName(of: name), value: text,
        updatedAt: value.objectValue?["updated_at_ms"]?.int64Value.map(
          Instant.init(millisecondsSince1970:)))
    }
  }

  /// The name here of an attribute of RevenueCat.
  package static func localName(of name: String) -> String {
    name.hasPrefix("$") ? reservedPrefix + name.dropFirst() : name
  }

  private static func scalar(_ value: JSONValue) -> String? {
    value.objectValue == nil && value.arrayValue == nil
      ? String(decoding: value.serialized(), as: UTF8.self) : nil
  }
}
