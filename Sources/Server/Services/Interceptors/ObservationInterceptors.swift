internal import AppStore
internal import Bytes
internal import Callers
internal import HTTP
internal import RPC
internal import Store
package import Telemetry

/// Counts each call by method and status code, and measures its duration.
struct MeteringInterceptor: Interceptor, Sendable {
  /// The counters of one event loop, or those that all other threads share.
  let shard: CallMeter.Shard
  /// Nanoseconds of a monotonic clock.
  let ticks: @Sendable () -> Int64

  /// Counts the call under the status that its caller saw. Endpoints of the edge are counted by ``EdgeMetrics``. The end
  /// of a stream whose connection is to end is no failure, so alerts must not count it as one.
  func end(_ call: inout CallInFlight, _ failure: Status?) {
    guard let index = call.method.meterIndex else { return }
    let isPlannedEnd = failure?.code == .unavailable && call.context.retirement?.hasBegun == true
    let code = isPlannedEnd ? .ok : failure.code
    shard.count(index, code: code.rawValue, nanoseconds: ticks() - call.startTicks)
  }
}

/// Writes mutating calls, and calls that failed because of the service, to the audit log, and an audit entry of each
/// call about customers to the store. Lines about calls without a caller are limited for each network, because
/// unauthenticated peers could fill the disk.
struct AuditInterceptor: Interceptor, Sendable {
  /// Writes a line of the audit log. It must not block.
  let audit: @Sendable (AuditRecord) -> Void
  /// `nil`: the store has no audit entries.
  let entries: RecordBuffer<AuditEntry>?
  /// The time of audit entries.
  let now: @Sendable () -> Instant
  /// Counts the lines about calls without a caller.
  let unauthenticated: AddressLimiter
  /// Logs the addresses of calls without a caller.
  let refusals: RefusalLog
  /// The maximum size, in bytes, of a request without a caller whose subject the log names.
  private static let maxUnauthenticatedRequest = 16 * 1_024

  /// Reads the fields of the request that the log names. A stranger's large request is not searched for them.
  func receive(_ message: UnsafeRawBufferPointer, _ call: inout CallInFlight) throws(Status) {
    guard call.method.recordsSubject,
      call.caller != nil || message.count <= Self.maxUnauthenticatedRequest
    else { return }
    call.subject = call.method.subject(of: message)
  }

  /// Records the audit entry of a call about customers, and writes a line if ``CallInFlight/shouldAudit(_:)``, and one
  /// about an unauthenticated peer, if its address is known here.
  func end(_ call: inout CallInFlight, _ failure: Status?) {
    if call.method.isRecorded, let entries { record(call, failure, entries) }
    if let failure, failure.code == .unauthenticated, !call.context.address.isEmpty {
      refusals.record(failure, of: call.method.path, from: call.context.address)
    }
    guard call.shouldAudit(failure.code), let trace = call.trace, isWithinLimit(call) else { return }
    audit(
      AuditRecord(
        caller: call.context.caller, method: call.method.path, mutates: call.method.mutates,
        apps: call.subject.apps, customers: call.subject.customers, actor: call.subject.actor,
        outcome: failure.code.name, reason: failure?.reason ?? "", error: failure?.internalMessage ?? "",
        trace: trace))
  }

  /// Whether the log may have another line about a call; lines about authenticated callers are not limited.
  private func isWithinLimit(_ call: CallInFlight) -> Bool {
    guard call.method.needsCaller, call.caller == nil, let network = call.context.network else { return true }
    return unauthenticated.delay(of: network) == nil
  }

  /// Only calls of an authenticated caller: other peers could fill the store.
  private func record(_ call: CallInFlight, _ failure: Status?, _ entries: RecordBuffer<AuditEntry>) {
    guard call.caller != nil else { return }
    entries.record(
      AuditEntry(
        at: now(), caller: call.context.caller, actor: call.subject.actor, method: call.method.path,
        appID: call.subject.app, customerIDs: call.subject.customers.recorded,
        subject: call.subject.other, note: call.subject.note, outcome: failure.code.name,
        requestID: call.trace?.requestID ?? "", address: call.context.address,
        asOf: call.subject.instants?.asOf, knownAt: call.subject.instants?.knownAt))
  }
}

extension [String] {
  /// The first different ids that are not empty, as many as an audit entry has.
  fileprivate var recorded: [String] {
    Array(filter { !$0.isEmpty }.distinctIDs.prefix(CallScope.maxCustomers))
  }
}

/// One call in the audit log. It contains no contents of documents or tokens.
package struct AuditRecord: Hashable, Sendable {
  /// The operator's name of the caller; empty if callers are not authenticated or authentication failed.
  package let caller: String
  /// `/package.Service/Method`, or the HTTP method and route.
  package let method: String
  /// Whether the call changes data; otherwise it is recorded because the service failed.
  package let mutates: Bool
  /// The apps that the request names.
  package let apps: [String]
  /// The customers that the request names, and those that the response shows.
  package let customers: [String]
  /// The person or system for which the caller acts, as the request states it.
  package let actor: String
  /// The name of gRPC's status code, such as `OK`.
  package let outcome: String
  /// The reason code of the failure; empty without one.
  package let reason: String
  /// The error message and its internal cause; empty for success.
  package let error: String
  /// The trace of the call and its request id.
  package let trace: TraceContext
}
