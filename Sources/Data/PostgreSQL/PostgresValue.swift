/// A parameter of a statement, sent in binary format.
///
/// Integers are `bigint`, so integer columns should be too; a NULL has the type that its values would have.
package enum PostgresValue: Hashable, Sendable {
  case int8(Int64)
  /// PostgreSQL refuses a text with a NUL character (`22021`).
  case text(String)
  case bytea([UInt8])
  case bool(Bool)
  case float8(Double)
  case array(PostgresArray)
  case null(PostgresType)

  /// An integer, or NULL.
  package static func int8(orNull value: Int64?) -> PostgresValue { value.map(Self.int8) ?? .null(.int8) }
  /// A text, or NULL.
  package static func text(orNull value: String?) -> PostgresValue { value.map(Self.text) ?? .null(.text) }
  /// Bytes, or NULL.
  package static func bytea(orNull value: [UInt8]?) -> PostgresValue {
    value.map(Self.bytea) ?? .null(.bytea)
  }

  /// Texts are equal if their bytes are, as for the server; `==` of texts is also true for canonically equivalent ones.
  package static func == (left: PostgresValue, right: PostgresValue) -> Bool {
    switch (left, right) {
    case (.int8(let left), .int8(let right)): left == right
    case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
    case (.bytea(let left), .bytea(let right)): left == right
    case (.bool(let left), .bool(let right)): left == right
    case (.float8(let left), .float8(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.null(let left), .null(let right)): left == right
    default: false
    }
  }

  /// The type by which the server reads the bytes.
  var type: PostgresType {
    switch self {
    case .int8: .int8
    case .text: .text
    case .bytea: .bytea
    case .bool: .bool
    case .float8: .float8
    case .array(let array): array.type
    case .null(let type): type
    }
  }

  /// Appends the bytes of the value to `output`.
  ///
  /// - Returns: `false` for NULL.
  func encode(into output: inout [UInt8]) -> Bool {
    switch self {
    case .int8(let value): output.append(bigEndian: value)
    case .text(let value): output.append(contentsOf: value.utf8)
    case .bytea(let value): output.append(contentsOf: value)
    case .bool(let value): output.append(value ? 1 : 0)
    case .float8(let value): output.append(bigEndian: Int64(bitPattern: value.bitPattern))
    case .array(let array): array.encode(into: &output)
    case .null: return false
    }
    return true
  }
}

/// The types of parameters; the raw value is the object identifier in `pg_type`, which never changes.
package enum PostgresType: UInt32, Hashable, Sendable {
  case bool = 16
  case bytea = 17
  case int8 = 20
  case text = 25
  case float8 = 701
  case boolArray = 1000
  case byteaArray = 1001
  case textArray = 1009
  case int8Array = 1016
}

extension [UInt8] {
  /// Appends an integer in the byte order of PostgreSQL's protocol.
  mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
