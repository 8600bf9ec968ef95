/// A one-dimensional array as a parameter, encoded while it grows: one column of a set-based statement, such as
/// `INSERT … SELECT * FROM unnest($1, $2)`.
package struct PostgresArray: Hashable, Sendable {
  /// The types of elements.
  package enum Element: Hashable, Sendable {
    case int8, text, bytea, bool

    /// `nil` for a type without arrays here.
    fileprivate init?(_ type: PostgresType) {
      switch type {
      case .int8: self = .int8
      case .text: self = .text
      case .bytea: self = .bytea
      case .bool: self = .bool
      case .float8, .boolArray, .byteaArray, .textArray, .int8Array: return nil
      }
    }
  }

  /// The type of every element that is not NULL.
  package let element: Element
  /// The number of elements, NULLs included.
  package private(set) var count = 0
  private var containsNull = false
  /// The elements, each with its length before it.
  private var bytes: [UInt8] = []

  /// Creates an empty array.
  package init(of element: Element) { self.element = element }

  /// Creates an array of integers.
  package init(_ values: some Sequence<Int64>) {
    self.init(of: .int8)
    for value in values { append(value) }
  }

  /// Creates an array of texts.
  package init(_ values: some Sequence<String>) {
    self.init(of: .text)
    for value in values { append(value) }
  }

  /// Creates an array of byte strings.
  package init(_ values: some Sequence<[UInt8]>) {
    self.init(of: .bytea)
    for value in values { append(value) }
  }

  /// Appends an integer, or NULL, to an array of integers.
  package mutating func append(_ value: Int64?) {
    guard let value else { return appendNull() }
    append(.int8, byteCount: 8) { $0.append(bigEndian: value) }
  }

  /// Appends a text, or NULL, to an array of texts.
  package mutating func append(_ value: String?) {
    guard let value else { return appendNull() }
    append(.text, byteCount: value.utf8.count) { $0.append(contentsOf: value.utf8) }
  }

  /// Appends bytes, or NULL, to an array of byte strings.
  package mutating func append(_ value: [UInt8]?) {
    guard let value else { return appendNull() }
    append(.bytea, byteCount: value.count) { $0.append(contentsOf: value) }
  }

  /// Appends a truth value, or NULL, to an array of them.
  package mutating func append(_ value: Bool?) {
    guard let value else { return appendNull() }
    append(.bool, byteCount: 1) { $0.append(value ? 1 : 0) }
  }

  /// Returns one array for each position of `rows`, which have the same number of parameters, for a statement that
  /// treats them as one set; `nil` if a position has values of several types, or of a type without arrays.
  package static func columns(of rows: [[PostgresValue]]) -> [PostgresValue]? {
    guard let first = rows.first else { return nil }
    var columns: [PostgresValue] = []
    columns.reserveCapacity(first.count)
    for position in first.indices {
      guard let element = Element(first[position].type) else { return nil }
      var column = PostgresArray(of: element)
      for row in rows {
        guard column.append(row[position]) else { return nil }
      }
      columns.append(.array(column))
    }
    return columns
  }

  /// Appends a value or NULL. Returns `false` without effect if it has another type.
  private mutating func append(_ value: PostgresValue) -> Bool {
    guard Element(value.type) == element else { return false }
    switch value {
    case .int8(let number): append(number)
    case .text(let text): append(text)
    case .bytea(let bytes): append(bytes)
    case .bool(let condition): append(condition)
    case .null: appendNull()
    case .float8, .array: return false
    }
    return true
  }

  /// Appends a NULL, whatever the type of the elements.
  package mutating func appendNull() {
    containsNull = true
    count += 1
    bytes.append(bigEndian: Int32(-1))
  }

  private mutating func append(_ type: Element, byteCount: Int, _ body: (inout [UInt8]) -> Void) {
    precondition(type == element, "an array of \(element) cannot contain \(type)")
    count += 1
    bytes.append(bigEndian: Int32(byteCount))
    body(&bytes)
  }

  /// The type of the array.
  var type: PostgresType {
    switch element {
    case .int8: .int8Array
    case .text: .textArray
    case .bytea: .byteaArray
    case .bool: .boolArray
    }
  }

  private var elementType: PostgresType {
    switch element {
    case .int8: .int8
    case .text: .text
    case .bytea: .bytea
    case .bool: .bool
    }
  }

  /// Appends the array as `array_recv` of the server reads it: dimensions, whether there are NULLs, type, then length
  /// and lower bound of the dimension.
  func encode(into output: inout [UInt8]) {
    output.append(bigEndian: Int32(count == 0 ? 0 : 1))
    output.append(bigEndian: Int32(containsNull ? 1 : 0))
    output.append(bigEndian: elementType.rawValue)
    guard count > 0 else { return }
    output.append(bigEndian: Int32(count))
    output.append(bigEndian: Int32(1))
    output.append(contentsOf: bytes)
  }
}
