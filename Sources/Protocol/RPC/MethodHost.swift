/// The methods as one event loop serves them.
///
/// Every loop has a host of its own, so that handlers can keep what belongs to one thread (a reading
/// connection to the store) without a lock. It is not `Sendable`.
package final class MethodHost {
  package let methods: MethodTable
  private let turnEnded: () -> Void

  /// A host of `methods`; `turnEnded` is called when the loop has answered all that came in at once.
  package init(methods: MethodTable, turnEnded: @escaping () -> Void = {}) {
    self.methods = methods
    self.turnEnded = turnEnded
  }

  package func endTurn() { turnEnded() }
}
