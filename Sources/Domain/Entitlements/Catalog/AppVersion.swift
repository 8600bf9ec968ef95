/// A version of an app, such as `3.0.1`: numbers that are compared one after the other, so that 3.10 comes
/// after 3.9, and 3 is the same as 3.0.
package struct AppVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The numbers without zeros at the end.
  private let numbers: [Int64]
  /// The text it was read from.
  package let description: String

  /// Reads numbers of at most 18 digits with points between them; `nil` for anything else.
  package init?(_ text: String) {
    var numbers: [Int64] = []
    for part in text.split(separator: ".", omittingEmptySubsequences: false) {
      guard (1...18).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int64(part)
      else { return nil }
      numbers.append(number)
    }
    while numbers.last == 0 { numbers.removeLast() }
    self.numbers = numbers
    description = text
  }

  package static func < (left: AppVersion, right: AppVersion) -> Bool {
    left.numbers.lexicographicallyPrecedes(right.numbers)
  }

  package static func == (left: AppVersion, right: AppVersion) -> Bool { left.numbers == right.numbers }

  package func hash(into hasher: inout Hasher) { hasher.combine(numbers) }
}
