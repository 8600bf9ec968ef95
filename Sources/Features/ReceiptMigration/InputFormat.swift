internal import JSON

/// How the lines of a job's input are to be read: which columns mean what.
package struct InputFormat: Hashable, Sendable {
  /// How the input is cut into lines.
  package enum Syntax: String, Hashable, Sendable, CaseIterable {
    /// One JSON object on each line.
    case ndjson
    /// Comma-separated values (RFC 4180) below a line with the names of the columns.
    case csv
  }

  /// `nil`: by its first character, which is a brace in NDJSON.
  package var syntax: Syntax?
  /// The column with the operator's name for the customer. In NDJSON, a dot leads into an object.
  package var customerColumn = "customer_id"
  /// The column with the receipt, in base64.
  package var receiptColumn = "receipt"
  /// The column with an original transaction id, which counts where there is no receipt.
  package var numberColumn = "original_transaction_id"
  /// What separates the columns of CSV, one character of ASCII.
  package var delimiter = ","

  /// The usual names.
  package init() {}
}

// As it is remembered with a job.
extension InputFormat {
  /// Reads what ``text`` wrote; `nil` for anything else.
  package init?(_ text: String) {
    guard case .object(let json)? = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
    syntax = json["syntax"]?.stringValue.flatMap(Syntax.init(rawValue:))
    customerColumn = json["customer"]?.stringValue ?? customerColumn
    receiptColumn = json["receipt"]?.stringValue ?? receiptColumn
    numberColumn = json["number"]?.stringValue ?? numberColumn
    delimiter = json["delimiter"]?.stringValue ?? delimiter
  }

  /// The format as a text.
  package var text: String {
    var json: JSONObject = [
      "customer": .string(customerColumn), "receipt": .string(receiptColumn),
      "number": .string(numberColumn), "delimiter": .string(delimiter),
    ]
    json["syntax"] = syntax.map { .string($0.rawValue) }
    return String(decoding: json.serialized(), as: UTF8.self)
  }
}
