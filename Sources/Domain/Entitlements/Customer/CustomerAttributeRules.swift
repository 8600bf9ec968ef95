/// The limits of a customer's attributes, in `SetCustomerAttributes` and in imports.
package enum CustomerAttributeRules {
  /// The maximum number of attributes of one customer.
  package static let maxCount = 64
  /// The maximum size of a name in bytes.
  package static let maxNameBytes = 64
  /// The maximum size of a value in bytes.
  package static let maxValueBytes = 256

  /// Whether `text` can name an attribute: 1 to ``maxNameBytes`` ASCII letters, digits, `_`, `-`, `.` and `:`.
  package static func isName(_ text: String) -> Bool {
    (1...maxNameBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch UnicodeScalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", ":": true
        default: false
        }
      }
  }
}
