internal import Synchronization
internal import Wire

/// A response as it is cached, and as it is sent.
struct EncodedCheck {
  /// Without `evaluated_at`, which ``CheckHandler/append(_:to:)`` adds to each reply.
  let cached: [UInt8]
  /// With `evaluated_at`, for the caller whose check loaded it.
  let complete: [UInt8]

  init(_ outcome: CheckEvaluation.Outcome) {
    var response = outcome.response
    let instant = response.evaluatedAt
    response.evaluatedAt = nil
    cached = response.encodedBytes()
    var bytes = cached
    instant?.append(asField: CheckHandler.evaluatedAtField, to: &bytes)
    complete = bytes
  }
}

/// Responses of other threads on their way to the cache of an event loop. At most 4,096 wait; others are not cached.
final class ArrivedResponses: Sendable {
  private struct Arrival {
    let response: [UInt8]
    let request: [UInt8]
    let validity: CheckResponseCache.Validity
  }

  private static let capacity = 4_096
  private let waiting = Mutex<[Arrival]>([])
  private let isEmpty = Atomic(true)

  /// Adds a response, on any thread.
  func add(_ response: [UInt8], to request: [UInt8], while validity: CheckResponseCache.Validity) {
    waiting.withLock { waiting in
      guard waiting.count < Self.capacity else { return }
      waiting.append(Arrival(response: response, request: request, validity: validity))
      isEmpty.store(false, ordering: .relaxed)
    }
  }

  /// Moves all of them to the cache, on its event loop.
  func move(to cache: CheckResponseCache) {
    guard !isEmpty.load(ordering: .relaxed) else { return }
    let arrived = waiting.withLock { waiting in
      isEmpty.store(true, ordering: .relaxed)
      defer { waiting.removeAll(keepingCapacity: true) }
      return waiting
    }
    for arrival in arrived {
      arrival.request.withUnsafeBytes { cache.insert(arrival.response, to: $0, while: arrival.validity) }
    }
  }
}
