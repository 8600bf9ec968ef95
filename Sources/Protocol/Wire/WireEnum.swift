/// An enum of the contract. Numbers that this version does not define are preserved as `unrecognized`.
package protocol WireEnum: RawRepresentable<Int32>, Hashable, Sendable {
  /// The value with that number on the wire.
  init(rawValue: Int32)

  /// The value's name in the contract, or its number.
  var protoName: String { get }
}

extension WireEnum {
  /// The value with number 0, which an unset field has.
  package init() { self.init(rawValue: 0) }
}
