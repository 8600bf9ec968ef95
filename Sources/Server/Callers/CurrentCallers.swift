internal import Synchronization

/// The policy by which calls are authenticated.
package enum CallerPolicy: Sendable {
  /// Every client is allowed, with all roles.
  case open
  /// Only callers in the directory are allowed.
  case listed(CallerDirectory)

  /// Whether every client is allowed, so that no answer is a secret.
  package var isOpen: Bool {
    if case .open = self { true } else { false }
  }
}

/// The caller policy in effect, shared by all authenticators.
package final class CurrentCallers: Sendable {
  private let policy: Mutex<CallerPolicy>
  private let replacements = Atomic<UInt64>(0)

  private struct Observers {
    var last = 0
    var actions: [Int: @Sendable () -> Void] = [:]
  }

  private let observers = Mutex(Observers())

  /// Starts with `policy`.
  package init(_ policy: CallerPolicy) {
    self.policy = Mutex(policy)
    observeKeys(of: policy)
  }

  /// The policy in effect.
  package var value: CallerPolicy { policy.withLock { $0 } }

  /// Replaces the policy, starting with the next call of every caller.
  package func replace(with policy: CallerPolicy) {
    observeKeys(of: policy)
    self.policy.withLock { $0 = policy }
    invalidate()
  }

  /// Treats other keys of the token issuer as another policy, because tokens that were valid may be invalid now.
  private func observeKeys(of policy: CallerPolicy) {
    guard case .listed(let directory) = policy else { return }
    directory.issuer?.observeKeys { [weak self] in self?.invalidate() }
  }

  private func invalidate() {
    replacements.add(1, ordering: .releasing)
    for action in observers.withLock({ Array($0.actions.values) }) { action() }
  }

  /// Calls `action` after each replacement of the policy or of the keys of its token issuer, until
  /// ``removeObserver(_:)`` gets the returned number. The action runs on the thread of the replacement, which waits for
  /// it, so it must not block; a concurrent removal may come too late for one call.
  package func observe(_ action: @escaping @Sendable () -> Void) -> Int {
    observers.withLock { observers in
      observers.last += 1
      observers.actions[observers.last] = action
      return observers.last
    }
  }

  /// Ends the calls of an action; `number` is the one that ``observe(_:)`` returned. An unknown number has no effect.
  package func removeObserver(_ number: Int) {
    observers.withLock { _ = $0.actions.removeValue(forKey: number) }
  }

  /// The number of replacements of the policy and of its keys. What was derived from ``value`` is valid while this
  /// equals its value from before the read.
  package var generation: UInt64 { replacements.load(ordering: .acquiring) }
}
