internal import Bytes
internal import CEntitledProto

/// Encodes the fields of a message in protobuf's wire format.
///
/// Encodes Swift values directly: encoding through protobuf-c's structures took more than twice as long for a
/// `Check` response, mostly for copying strings and computing sizes.
///
/// Fields at their default are omitted, as proto3 requires; the `orDefault` methods include them, for members
/// of a oneof.
package struct WireWriter {
  private let arena: WireArena
  private var start: UnsafeMutablePointer<UInt8>
  private var position: UnsafeMutablePointer<UInt8>
  private var end: UnsafeMutablePointer<UInt8>

  private enum WireType {
    static let varint: UInt32 = 0
    static let fixed64: UInt32 = 1
    static let lengthDelimited: UInt32 = 2
  }

  /// A field key has at most five bytes.
  private static let maxKeyAndNumber = 5 + Varint.maxBytes

  /// Allocates in `arena`, which must outlive the writer.
  init(arena: WireArena) {
    self.arena = arena
    start = arena.allocate(UInt8.self, count: 512)
    position = start
    end = start + 512
  }

  /// The encoded bytes, valid until the next write.
  var written: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: position - start) }

  /// Makes room for `count` bytes, which may then be written without a check.
  private mutating func requireRoom(for count: Int) {
    if end - position < count { grow(by: count) }
  }

  private mutating func grow(by count: Int) {
    let used = position - start
    let capacity = 2 * (used + count)
    let larger = arena.allocate(UInt8.self, count: capacity)
    larger.update(from: start, count: used)
    (start, position, end) = (larger, larger + used, larger + capacity)
  }

  private mutating func put(_ byte: UInt8) {
    position.pointee = byte
    position += 1
  }

  private mutating func putKey(_ number: UInt32, _ type: UInt32) { putVarint(UInt64(number << 3 | type)) }

  private mutating func putVarint(_ value: UInt64) { Varint.write(value, at: &position) }

  // MARK: Single fields

  /// Writes an integer or the number of an enum, unless it is 0.
  package mutating func integer(_ number: UInt32, _ value: some FixedWidthInteger) {
    if value != 0 { integerOrDefault(number, value) }
  }

  /// Negative numbers of every width take 64 bits, as protobuf requires.
  package mutating func integerOrDefault(_ number: UInt32, _ value: some FixedWidthInteger) {
    requireRoom(for: Self.maxKeyAndNumber)
    putKey(number, WireType.varint)
    putVarint(UInt64(truncatingIfNeeded: value))
  }

  /// Writes a truth value, unless it is `false`.
  package mutating func flag(_ number: UInt32, _ value: Bool) {
    if value { flagOrDefault(number, value) }
  }

  /// Writes a truth value.
  package mutating func flagOrDefault(_ number: UInt32, _ value: Bool) {
    requireRoom(for: Self.maxKeyAndNumber)
    putKey(number, WireType.varint)
    put(value ? 1 : 0)
  }

  /// Writes a double, unless it is positive 0.
  package mutating func double(_ number: UInt32, _ value: Double) {
    // Negative zero is not the default.
    if value.bitPattern != 0 { doubleOrDefault(number, value) }
  }

  /// Writes a double in eight bytes, lowest first.
  package mutating func doubleOrDefault(_ number: UInt32, _ value: Double) {
    requireRoom(for: Self.maxKeyAndNumber)
    putKey(number, WireType.fixed64)
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      put(UInt8(truncatingIfNeeded: value.bitPattern >> shift))
    }
  }

  /// Writes a string, unless it is empty.
  package mutating func text(_ number: UInt32, _ value: String) {
    if !value.isEmpty { textOrDefault(number, value) }
  }

  /// Writes a NUL as U+FFFD, because protobuf-c would truncate the string there.
  package mutating func textOrDefault(_ number: UInt32, _ value: String) {
    var value = value
    let isSound = value.withUTF8 { utf8 in
      guard let start = utf8.baseAddress, entitled_text_has_nul(start, utf8.count) else {
        append(number, utf8)
        return true
      }
      return false
    }
    if !isSound { textOrDefault(number, value.replacingNUL()) }
  }

  /// Writes bytes, unless there are none.
  package mutating func data(_ number: UInt32, _ value: [UInt8]) {
    if !value.isEmpty { dataOrDefault(number, value) }
  }

  /// Writes bytes.
  package mutating func dataOrDefault(_ number: UInt32, _ value: [UInt8]) {
    value.withUnsafeBufferPointer { append(number, $0) }
  }

  private mutating func append(_ number: UInt32, _ content: UnsafeBufferPointer<UInt8>) {
    requireRoom(for: Self.maxKeyAndNumber + content.count)
    putKey(number, WireType.lengthDelimited)
    putVarint(UInt64(content.count))
    if let first = content.baseAddress { position.update(from: first, count: content.count) }
    position += content.count
  }

  /// Writes a message, also one whose fields are all at their default; `nil` writes nothing.
  package mutating func message(_ number: UInt32, _ value: (some WireMessage)?) {
    guard let value else { return }
    let offset = beginNested(number)
    value.write(to: &self)
    endNested(offset)
  }

  /// Reserves one byte for the length, which is enough for nearly all messages.
  private mutating func beginNested(_ number: UInt32) -> Int {
    requireRoom(for: Self.maxKeyAndNumber)
    putKey(number, WireType.lengthDelimited)
    put(0)
    return position - start
  }

  /// Writes the length before the content at `offset`, and moves the content if the length needs more bytes.
  private mutating func endNested(_ offset: Int) {
    let length = position - start - offset
    if length < 0x80 {
      start[offset - 1] = UInt8(length)
      return
    }
    let shift = (63 - length.leadingZeroBitCount) / 7
    requireRoom(for: shift)
    (start + offset + shift).update(from: start + offset, count: length)
    let after = position + shift
    position = start + offset - 1
    putVarint(UInt64(length))
    position = after
  }

  // MARK: Repeated fields

  /// Writes one element for each string, also for empty ones.
  package mutating func texts(_ number: UInt32, _ values: [String]) {
    for value in values { textOrDefault(number, value) }
  }

  /// Writes one element for each list of bytes, also for empty ones.
  package mutating func datas(_ number: UInt32, _ values: [[UInt8]]) {
    for value in values { dataOrDefault(number, value) }
  }

  /// Writes one element for each message.
  package mutating func messages(_ number: UInt32, _ values: [some WireMessage]) {
    for value in values { message(number, value) }
  }

  /// Writes a packed field: one length, then all numbers.
  package mutating func integers(_ number: UInt32, _ values: [some FixedWidthInteger]) {
    guard !values.isEmpty else { return }
    let offset = beginNested(number)
    for value in values {
      requireRoom(for: Self.maxKeyAndNumber)
      putVarint(UInt64(truncatingIfNeeded: value))
    }
    endNested(offset)
  }
}
