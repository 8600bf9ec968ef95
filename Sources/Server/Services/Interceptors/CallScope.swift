internal import AppStore
internal import Bytes
internal import Callers
internal import RPC
internal import Synchronization

/// The caller of the asynchronous call that the current task serves. Calls on an event loop have none, because they need
/// no more than their ``CallContext``. It collects what the handler adds to the audit entry of the call.
final class CallScope: Sendable {
  /// `nil` outside of a call, where ``show(_:of:)`` has no effect.
  @TaskLocal static var current: CallScope?
  /// The greatest number of different customers of an audit entry; further ones are left out.
  static let maxCustomers = 100

  /// `nil` for a method that is open to everyone.
  let caller: Caller?
  /// The key of a request that has none, because it may be executed again after a takeover; `nil` for other calls.
  let idempotencyKey: String?

  private struct Shown {
    var customers: [String] = []
    var subject = ""
    var instants: CallInFlight.Subject.QueriedInstants?
  }

  private let shown = Mutex(Shown())

  init(caller: Caller?, idempotencyKey: String? = nil) {
    self.caller = caller
    self.idempotencyKey = idempotencyKey
  }

  /// Adds customers that the response shows to the audit entry of the current call. `subject` is what the request names
  /// instead of a customer; a later call replaces it.
  static func show(_ customers: some Sequence<String>, of subject: String = "") {
    current?.shown.withLock { shown in
      for id in customers
      where shown.customers.count < maxCustomers && !id.isEmpty && !shown.customers.containsID(id) {
        shown.customers.append(id)
      }
      shown.subject = subject
    }
  }

  /// Adds the instants that a request asks about to the audit entry of the current call.
  static func ask(asOf: Instant?, knownAt: Instant?) {
    guard asOf != nil || knownAt != nil else { return }
    let instants = CallInFlight.Subject.QueriedInstants(asOf: asOf, knownAt: knownAt)
    current?.shown.withLock { $0.instants = instants }
  }

  /// Adds what the handler showed to the subject of the call.
  func add(to subject: inout CallInFlight.Subject) {
    let shown = shown.withLock { $0 }
    subject.customers += shown.customers.filter { !subject.customers.containsID($0) }
    subject.other = shown.subject
    subject.instants = shown.instants
  }

  /// Whether the caller of the current call may access only some apps.
  static var isLimitedToApps: Bool { current?.caller?.apps != nil }

  /// The apps of `configured` that the caller of the current call may access.
  static func apps(of configured: [String]) -> [String] {
    guard let caller = current?.caller else { return [] }
    return configured.filter { caller.apps?.contains($0) ?? true }
  }
}
