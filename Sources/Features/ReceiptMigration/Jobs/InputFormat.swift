internal import JSON

/// The format of a job's input: its syntax and the names of its columns.
package struct InputFormat: Hashable, Sendable {
  /// The syntax of an input file, by its name on the command line and in the contract.
  package enum Syntax: String, Hashable, Sendable, CaseIterable {
    /// One JSON object on each line.
    case ndjson
    /// Comma-separated values (RFC 4180) below a line with the names of the columns.
    case csv
  }

  /// `nil` to detect it by the beginning.
  package var syntax: Syntax?
  /// The column with the customer id. In NDJSON, a dot separates the names of nested members.
  package var customerColumn = "customer_id"
  /// Whether a header of CSV must have the customer column: the caller named it, or wants to link each line to its
  /// customer.
  package var requiresCustomerColumn = false
  /// The column with the receipt, in base64.
  package var receiptColumn = "receipt"
  /// The column with an original transaction id, for lines without a receipt.
  package var numberColumn = "original_transaction_id"
  /// The delimiter of CSV columns, one ASCII character.
  package var delimiter = ","

  /// Creates the default format.
  package init() {}

  /// Returns the first of `names` that differs from ``customerColumn`` in case and separators alone, as `customerId` does.
  /// A line that has it in place of the column would be migrated without its customer.
  func misnamedCustomer(in names: some Sequence<String>) -> String? {
    let wanted = Self.lettersAndDigits(of: customerColumn)
    return names.first { $0 != customerColumn && Self.lettersAndDigits(of: $0) == wanted }
  }

  private static func lettersAndDigits(of name: String) -> String {
    String(name.lowercased().filter { $0.isLetter || $0.isNumber })
  }
}

// The stored form.
extension InputFormat {
  /// Parses the form of ``text``; `nil` for others. Members that are missing have their defaults, so that an older
  /// version's form stays valid.
  package init?(_ text: String) {
    guard case .object(let json)? = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
    syntax = json["syntax"]?.stringValue.flatMap(Syntax.init(rawValue:))
    customerColumn = json["customer"]?.stringValue ?? customerColumn
    requiresCustomerColumn = json["requiresCustomer"] == .bool(true)
    receiptColumn = json["receipt"]?.stringValue ?? receiptColumn
    numberColumn = json["number"]?.stringValue ?? numberColumn
    delimiter = json["delimiter"]?.stringValue ?? delimiter
  }

  /// The format as JSON.
  package var text: String {
    var json: JSONObject = [
      "customer": .string(customerColumn), "receipt": .string(receiptColumn),
      "number": .string(numberColumn), "delimiter": .string(delimiter),
    ]
    if requiresCustomerColumn { json["requiresCustomer"] = .bool(true) }
    json["syntax"] = syntax.map { .string($0.rawValue) }
    return String(decoding: json.serialized(), as: UTF8.self)
  }
}

extension InputFormat.Syntax {
  /// The syntax of an input with this first byte that is no white space: NDJSON begins with a brace.
  init(beginningWith byte: UInt8?) { self = byte == UInt8(ascii: "{") ? .ndjson : .csv }
}

/// One line of a job's input.
package struct InputLine: Hashable, Sendable {
  /// The number of its first line in the input, counted from 1. All lines count, also empty ones, the header of CSV and
  /// those in quotes.
  package let number: Int64
  /// The byte offset of the line in the input.
  package let position: Int64
  /// The size in bytes, without the line end.
  package let length: Int64
  /// The parsed line, or the reason why it cannot be parsed.
  package let record: Result<InputRecord, InputError>
}

/// The contents of a line.
package struct InputRecord: Hashable, Sendable {
  /// Empty for no customer.
  package var customerID: String
  /// The receipt, or the transaction id if the line has no receipt.
  package var content: IncomingReceipt.Content

  /// `nil` if there is neither a receipt nor a transaction id.
  init?(customerID: String?, receipt: String?, number: String?) {
    self.customerID = customerID ?? ""
    if let receipt, !receipt.isEmpty {
      content = .text(receipt)
    } else if let number, !number.isEmpty {
      content = .originalTransactionID(number)
    } else {
      return nil
    }
  }
}
