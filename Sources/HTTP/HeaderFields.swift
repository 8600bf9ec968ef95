/// A list of header fields in the order in which they came or will go, kept in one block of bytes.
///
/// Names are lowercase, as HTTP/2 has them (RFC 9113, section 8.2.1); pseudo-header fields keep their
/// colon. One block and no `String` per field: a request has about ten fields and most are never
/// looked at, so a string each would cost more than all the rest of a call's parsing.
package struct HeaderFields: Hashable, Sendable {
  /// For each field: the length of its name and of its value (four bytes each), then both.
  private var block: [UInt8] = []

  /// How many fields there are.
  package private(set) var count = 0

  package init() {}

  /// Makes a list of the given fields, in their order.
  package init(_ fields: [(name: String, value: String)]) {
    for field in fields { append(name: field.name, value: field.value) }
  }

  /// The bytes that names and values take, with the 32 bytes a field that HTTP/2 counts on top
  /// (RFC 9113, section 6.5.2).
  package var sizeInBytes: Int { block.count + count * (32 - Self.prefixLength) }

  package var isEmpty: Bool { count == 0 }

  /// Adds a field behind the others. The name must be lowercase.
  package mutating func append(name: String, value: String) {
    var name = name
    var value = value
    name.withUTF8 { name in
      value.withUTF8 { value in append(name: UnsafeRawBufferPointer(name), value: UnsafeRawBufferPointer(value)) }
    }
  }

  /// Adds a field given as bytes, which are copied.
  package mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    let lengths = (UInt32(truncatingIfNeeded: name.count), UInt32(truncatingIfNeeded: value.count))
    withUnsafeBytes(of: lengths) { block.append(contentsOf: $0.assumingMemoryBound(to: UInt8.self)) }
    // Only a typed buffer is copied as a whole; a raw one is appended byte by byte.
    block.append(contentsOf: name.assumingMemoryBound(to: UInt8.self))
    block.append(contentsOf: value.assumingMemoryBound(to: UInt8.self))
    count += 1
  }

  /// Forgets all fields and keeps the memory, for the next list.
  package mutating func removeAll() {
    block.removeAll(keepingCapacity: true)
    count = 0
  }

  /// Lends all fields at once; they are there only during the call.
  package func withFields<Result, Failure: Error>(
    _ body: (BorrowedFields) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outcome: Swift.Result<Result, Failure> = block.withUnsafeBytes { block in
      do throws(Failure) {
        return .success(try body(BorrowedFields(block: block)))
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  /// The fields of a list while it lends them, in order.
  package struct BorrowedFields: Sequence, IteratorProtocol {
    fileprivate let block: UnsafeRawBufferPointer
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

  /// The value of the first field of that (lowercase) name, as text.
  package subscript(name: String) -> String? {
    var name = name
    return name.withUTF8 { wanted in
      withFields { fields in
        for field in fields where field.name.hasSameBytes(as: UnsafeRawBufferPointer(wanted)) {
          return String(decoding: field.value, as: UTF8.self)
        }
        return nil
      }
    }
  }

  /// All fields as text, for the places where speed does not matter.
  package var strings: [(name: String, value: String)] {
    withFields { fields in
      fields.map { (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self)) }
    }
  }

  fileprivate static let prefixLength = 8
}
