/// One line of a job's input, where it stands and what it says.
package struct InputLine: Hashable, Sendable {
  /// Counted from 1; a CSV's first line is its names and does not count.
  package let number: Int64
  /// Where it begins, in bytes.
  package let position: Int64
  /// How many bytes it has, without its end.
  package let length: Int64
  /// What it says, or why it cannot be read.
  package let record: Result<InputRecord, InputError>

  /// Where the next line begins.
  var end: Int64 { position + length }
}

/// What a line says.
package struct InputRecord: Hashable, Sendable {
  /// Empty if it names no customer.
  package var customerID: String
  package var content: IncomingReceipt.Content

  /// A record by its parts; `nil` if it has neither a receipt nor a number.
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
