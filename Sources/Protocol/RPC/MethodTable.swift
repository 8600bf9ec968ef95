internal import Bytes
internal import HTTP

/// The methods of a server, found by path.
///
/// The table is keyed by the bytes of the path as they come off the wire: a dictionary of strings would
/// make a string of every request's path first.
package struct MethodTable {
  package let methods: [Method]
  /// Open addressing: the index of a method plus one, or 0 where there is none.
  private let slots: [UInt16]
  private let paths: [[UInt8]]

  /// - Precondition: no two methods have the same path, and there are fewer than 30,000.
  package init(_ methods: [Method]) {
    self.methods = methods
    self.paths = methods.map { Array($0.path.utf8) }
    var size = 16
    while size < methods.count * 4 { size *= 2 }
    var slots = [UInt16](repeating: 0, count: size)
    for (index, path) in paths.enumerated() {
      var slot = path.withUnsafeBytes(Self.hash) & (size - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
      slots[slot] = UInt16(index + 1)
    }
    self.slots = slots
  }

  /// The index of the method with that path.
  package func index(of path: UnsafeRawBufferPointer) -> Int? {
    var slot = Self.hash(path) & (slots.count - 1)
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      if paths[index].withUnsafeBufferPointer({ path.hasSameBytes(as: UnsafeRawBufferPointer($0)) }) {
        return index
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// The method with that path, for callers that have it as text.
  package func method(_ path: String) -> Method? {
    var path = path
    return path.withUTF8 { index(of: UnsafeRawBufferPointer($0)) }.map { methods[$0] }
  }

  /// Mixes the length and sixteen bytes from the end, where paths differ. The table is ours and fixed,
  /// so nobody can choose paths that collide.
  private static func hash(_ path: UnsafeRawBufferPointer) -> Int {
    guard path.count >= 16 else { return path.count }
    let last = path.loadUnaligned(fromByteOffset: path.count - 8, as: UInt64.self)
    let before = path.loadUnaligned(fromByteOffset: path.count - 16, as: UInt64.self)
    let mixed = (last ^ (before &* 31) ^ UInt64(path.count)) &* 0x9e37_79b9_7f4a_7c15
    return Int(mixed >> 40)
  }
}
