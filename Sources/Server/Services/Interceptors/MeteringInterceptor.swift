internal import RPC
internal import Telemetry

/// Counts each call by method and status code, and measures its duration.
struct MeteringInterceptor: Interceptor, Sendable {
  /// The counters of one event loop, or those that all other threads share.
  let shard: CallMeter.Shard
  /// Nanoseconds of a monotonic clock.
  let ticks: @Sendable () -> Int64

  func end(_ call: inout CallInFlight, _ status: inout Status) {
    guard let index = call.method.meterIndex else { return }
    shard.count(index, code: status.code.rawValue, nanoseconds: ticks() - call.startTicks)
  }
}
