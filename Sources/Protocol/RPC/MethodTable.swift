internal import Bytes
internal import HTTP

/// The methods of one event loop.
///
/// Each loop has its own host, so that its handlers need no lock for state such as a reader of the store. Not
/// `Sendable`.
package final class MethodHost {
  package let methods: MethodTable
  private let tickEnded: () -> Void
  private let opensResources: () -> Bool

  /// - Parameters:
  ///   - methods: the methods of the loop.
  ///   - tickEnded: called at the end of each tick of the loop in which a handler ran.
  ///   - recover: opens what the handlers lack, and returns whether they have everything.
  package init(
    methods: MethodTable, tickEnded: @escaping () -> Void = {}, recover: @escaping () -> Bool = { true }
  ) {
    self.methods = methods
    self.tickEnded = tickEnded
    opensResources = recover
  }

  /// Opens what the handlers lack, such as a reader of the store. Returns whether they have everything; otherwise
  /// the owner calls it again later.
  package func recover() -> Bool { opensResources() }

  /// Ends the tick, so that handlers release their snapshots.
  package func endTick() { tickEnded() }
}

/// The methods of a server by path.
///
/// The keys are the bytes of the path as received: a dictionary would need a string for every request. A class, because
/// every call passes it along.
package final class MethodTable {
  package let methods: [Method]
  /// Open addressing: the index of a method plus one, or 0 for an empty slot.
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

  /// The index of the method with this path, such as `/entitled.v1.EntitlementService/Check`; `nil` for an unknown one.
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

  /// The method with this path; `nil` for an unknown one.
  package func method(_ path: String) -> Method? {
    var path = path
    return path.withUTF8 { index(of: UnsafeRawBufferPointer($0)) }.map { methods[$0] }
  }

  /// Mixes the length and the last sixteen bytes, in which paths differ. Collisions cannot be chosen from
  /// outside, because the table is fixed.
  private static func hash(_ path: UnsafeRawBufferPointer) -> Int {
    guard path.count >= 16 else { return path.count }
    let last = path.loadUnaligned(fromByteOffset: path.count - 8, as: UInt64.self)
    let before = path.loadUnaligned(fromByteOffset: path.count - 16, as: UInt64.self)
    let mixed = (last ^ (before &* 31) ^ UInt64(path.count)) &* 0x9e37_79b9_7f4a_7c15
    return Int(mixed >> 40)
  }
}
