internal import AppStore
internal import Callers
internal import RPC
internal import Synchronization
internal import Wire

/// The number of refund requests that wait for an answer, and of broken webhooks, for the navigation. Kept for half a
/// minute, because every page shows it.
final class WorkCount: Sendable {
  private struct Key: Hashable {
    let caller: String
    let scope: Scope
  }

  /// In milliseconds.
  private static let lifetime: Int64 = 30_000
  /// The number of counts at which all are forgotten, so that they need little memory.
  private static let capacity = 1_000

  private let counts = Mutex<[Key: (count: Int64, until: Instant)]>([:])

  /// `nil` if the person may not see it, or it cannot be read.
  func count(in scope: Scope, _ visit: Visit) async -> Int64? {
    guard visit.mayCall(Calls.getStatus) else { return nil }
    let key = Key(caller: visit.person.caller.name, scope: scope)
    if let known = counts.withLock({ $0[key] }), visit.now < known.until { return known.count }
    guard let status = try? await visit.attempt(Calls.getStatus, GetStatusRequest()).get() else { return nil }
    let app = status.apps.first { $0.app == scope.app && $0.environment == scope.environment }
    let count = (app?.openConsumptionRequests ?? 0) + (await brokenWebhooks(in: scope, visit))
    counts.withLock { counts in
      if counts.count >= Self.capacity { counts.removeAll(keepingCapacity: true) }
      counts[key] = (count, visit.now.advanced(byMilliseconds: Self.lifetime))
    }
    return count
  }

  private func brokenWebhooks(in scope: Scope, _ visit: Visit) async -> Int64 {
    guard visit.mayCall(Calls.listWebhooks) else { return 0 }
    let answer = await visit.attempt(Calls.listWebhooks, .with { $0.app = scope.app })
    guard let webhooks = try? answer.get().webhooks else { return 0 }
    return Int64(webhooks.count { $0.state == .gone || $0.deadLetters > 0 })
  }
}
