/// The methods of a server, found by path.
///
/// The table is keyed by the bytes of the path as they come off the wire: a dictionary of strings would
/// make a string of every request's path first.
package struct MethodTable {
  package let methods: [Method]
  /// Open addressing: the index of a method plus one, or 0 where there is none.
  private let slots: [UInt16]

  /// - Precondition: no two methods have the same path, and there are fewer than 30,000.
  package init(_ methods: [Method]) {
    self.methods = methods
    var size = 16
    while size < methods.count * 4 { size *= 2 }
    var slots = [UInt16](repeating: 0, count: size)
    for (index, method) in methods.enumerated() {
      var path = method.path
      var slot = path.withUTF8 { Self.hash(UnsafeRawBufferPointer($0)) } & (size - 1)
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
      if path.elementsEqual(methods[index].path.utf8) { return index }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// The method with that path, for callers that have it as text.
  package func method(_ path: String) -> Method? {
    var path = path
    return path.withUTF8 { index(of: UnsafeRawBufferPointer($0)) }.map { methods[$0] }
  }

  /// FNV-1a. The table is ours and fixed, so nobody can choose paths that collide.
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    return Int(truncatingIfNeeded: hash & 0x7fff_ffff)
  }
}
