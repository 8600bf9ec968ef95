internal import Bytes

/// A list of header fields in transmission order, stored in one block of bytes.
///
/// Names are lowercase, as HTTP/2 has them (RFC 9113, section 8.2.1); pseudo-header fields keep their
/// colon. One block and no `String` per field: a request has about ten fields, most of them unused,
/// so a string for each would cost more than the rest of a call's parsing.
package struct HeaderFields: Hashable, Sendable {
  /// For each field: the length of its name and of its value (four bytes each), then both. Only the
  /// first `used` bytes count; the rest is room to grow, so that a field is added by copying alone.
  private var block: [UInt8] = []
  private var used = 0

  /// The number of fields.
  package private(set) var count = 0

  package init() {}

  /// A list of `fields` in their order.
  package init(_ fields: [(name: String, value: String)]) {
    for field in fields { append(name: field.name, value: field.value) }
  }

  /// The size of names and values plus 32 bytes for each field, as HTTP/2 defines it (RFC 9113, section
  /// 6.5.2).
  package var sizeInBytes: Int { used + count * (32 - Self.prefixLength) }

  /// Whether there are no fields.
  package var isEmpty: Bool { count == 0 }

  /// Appends a field. The name must be lowercase.
  package mutating func append(name: String, value: String) {
    var name = name
    var value = value
    name.withUTF8 { name in
      value.withUTF8 { value in
        append(name: UnsafeRawBufferPointer(name), value: UnsafeRawBufferPointer(value))
      }
    }
  }

  /// Appends a copy of a field.
  package mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    let length = Self.prefixLength + name.count + value.count
    if used + length > block.count { grow(by: length) }
    block.withUnsafeMutableBufferPointer { block in
      let block = UnsafeMutableRawBufferPointer(block)
      let field = UnsafeMutableRawBufferPointer(rebasing: block[used..<used + length])
      field.storeBytes(of: UInt32(truncatingIfNeeded: name.count), toByteOffset: 0, as: UInt32.self)
      field.storeBytes(of: UInt32(truncatingIfNeeded: value.count), toByteOffset: 4, as: UInt32.self)
      let room = UnsafeMutableRawBufferPointer(rebasing: field[Self.prefixLength...])
      room.copyMemory(from: name)
      UnsafeMutableRawBufferPointer(rebasing: room[name.count...]).copyMemory(from: value)
    }
    used += length
    count += 1
  }

  /// Appends a copy of a field unless ``sizeInBytes`` would exceed `limit`.
  ///
  /// - Returns: whether it was appended.
  package mutating func append(
    name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, limit: Int
  ) -> Bool {
    guard sizeInBytes + name.count + value.count + 32 <= limit else { return false }
    append(name: name, value: value)
    return true
  }

  private mutating func grow(by length: Int) {
    let room = max(256, block.count, length)
    // An array of zeros is filled and copied at once, a sequence of them byte by byte.
    block += [UInt8](repeating: 0, count: room)
  }

  /// Removes all fields and keeps the memory for the next list, unless it is more than `capacity` bytes.
  package mutating func removeAll(keeping capacity: Int = .max) {
    used = 0
    count = 0
    if block.count > capacity { block = [] }
  }

  /// Calls `body` with all fields, which are valid only during the call.
  package func withFields(_ body: (BorrowedFields) -> Void) {
    // Not generic in the result of `body`: across modules it would not be specialized, and each request calls
    // this three times.
    block.withUnsafeBufferPointer { block in
      body(BorrowedFields(block: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(block)[..<used])))
    }
  }

  /// The fields of a list in order, valid only during ``withFields(_:)``.
  package struct BorrowedFields: Sequence, IteratorProtocol {
    private let block: UnsafeRawBufferPointer
    private var position = 0

    fileprivate init(block: UnsafeRawBufferPointer) { self.block = block }

    package mutating func next() -> (name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
      guard position < block.count else { return nil }
      let nameLength = Int(block.loadUnaligned(fromByteOffset: position, as: UInt32.self))
      let valueLength = Int(block.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self))
      let name = position + HeaderFields.prefixLength
      let value = name + nameLength
      position = value + valueLength
      return (
        UnsafeRawBufferPointer(rebasing: block[name..<value]),
        UnsafeRawBufferPointer(rebasing: block[value..<position])
      )
    }
  }

  /// The value of the first field named `name` (lowercase).
  package subscript(name: String) -> String? {
    var name = name
    var found: String?
    name.withUTF8 { wanted in
      withFields { fields in
        let field = fields.first { $0.name.hasSameBytes(as: UnsafeRawBufferPointer(wanted)) }
        found = field.map { String(decoding: $0.value, as: UTF8.self) }
      }
    }
    return found
  }

  /// All fields as strings, for code that is not on the hot path.
  package var strings: [(name: String, value: String)] {
    var all: [(name: String, value: String)] = []
    withFields { fields in
      all = fields.map {
        (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self))
      }
    }
    return all
  }

  fileprivate static let prefixLength = 8

  package static func == (left: HeaderFields, right: HeaderFields) -> Bool {
    left.used == right.used && left.block.prefix(left.used) == right.block.prefix(right.used)
  }

  package func hash(into hasher: inout Hasher) {
    block.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[..<used])) }
  }
}
