internal import Callers
internal import RPC

/// Takes a token from the bucket of the caller, which all threads share.
struct RateLimitInterceptor: Interceptor, Sendable {
  func start(_ call: inout CallInFlight) throws(Status) {
    guard let caller = call.caller, let wait = caller.bucket?.take(at: call.startTicks) else { return }
    let milliseconds = (wait + 999_999) / 1_000_000
    throw Status(CallerError.rateLimited(caller: caller.name, retryAfterMilliseconds: milliseconds))
  }
}
