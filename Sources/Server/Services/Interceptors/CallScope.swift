internal import Callers
internal import RPC

/// The caller of the asynchronous call that the current task serves. Calls on an event loop have none, because they need
/// no more than their ``CallContext``.
final class CallScope: Sendable {
  @TaskLocal static var current: CallScope?

  /// `nil` for a method that is open to everyone.
  let caller: Caller?

  init(caller: Caller?) { self.caller = caller }

  /// The apps of `configured` that the caller of the current call may access.
  static func apps(of configured: [String]) -> [String] {
    guard let caller = current?.caller else { return [] }
    return configured.filter { caller.apps?.contains($0) ?? true }
  }
}
