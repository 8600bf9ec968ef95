internal import Bytes
internal import HTTP
internal import RPC
internal import Store

/// Delays calls until this process has the positions that their metadata `entitled-at-least` requires. So a caller that
/// wrote through one replica reads its write from another.
struct PositionBarrier: Sendable {
  /// Knows the commits that this process has.
  let feed: StoreFeed

  /// The longest wait; shorter if the caller's deadline passes earlier.
  private static let maxWait = Duration.seconds(1)
  /// The maximum number of tokens of a call, such as one for each app.
  private static let maxTokens = 16

  /// Whether this process has all positions that `headers` require. `false` also if one is malformed.
  func hasReached(_ headers: HeaderFields) -> Bool {
    var hasReached = true
    headers.withFields { fields in
      for field in fields where hasReached && field.name.equals(CallContext.requiredPositionField) {
        guard let position = PositionToken.position(in: field.value) else {
          hasReached = false
          return
        }
        hasReached = feed.reach(position) == .reached
      }
    }
    return hasReached
  }

  /// Waits until this process has all positions that the call requires.
  ///
  /// - Throws: `INVALID_ARGUMENT` with the reason `INVALID_POSITION`, `OUT_OF_RANGE` with `UNKNOWN_POSITION`, or
  ///   `UNAVAILABLE` with `NOT_FRESH_ENOUGH`.
  func wait(for call: CallContext) async throws(Status) {
    let positions = try Self.positions(call.headers)
    var limit = Self.maxWait
    if let timeout = call.timeout { limit = min(limit, .nanoseconds(timeout.nanoseconds)) }
    let deadline = ContinuousClock.now + limit
    for position in positions {
      try await wait(for: position, until: deadline, field: "\(CallContext.requiredPositionField)")
    }
  }

  /// Waits at most a second for one position, which the request has in `field`.
  func wait(for position: StorePosition, field: String) async throws(Status) {
    try await wait(for: position, until: .now + Self.maxWait, field: field)
  }

  /// Waits until this process has a position.
  ///
  /// - Throws: the status of an unknown position, or of one that was not reached before `deadline`.
  private func wait(
    for position: StorePosition, until deadline: ContinuousClock.Instant, field: String
  ) async throws(Status) {
    switch await feed.waitFor(position, atMost: deadline - .now) {
    case .reached: return
    case .unknown: throw .unknownPosition(field)
    case .pending:
      guard !Task.isCancelled else { throw Status(.cancelled) }
      throw .notFreshEnough
    }
  }

  /// The positions in all fields. Proxies may join the values of one name with commas (RFC 9110, section 5.3).
  private static func positions(_ headers: HeaderFields) throws(Status) -> [StorePosition] {
    let name = "\(CallContext.requiredPositionField)"
    var positions: [StorePosition] = []
    for field in headers.strings where field.name == name {
      for part in field.value.split(separator: ",") {
        let token = Array(part.utf8.filter { $0 != UInt8(ascii: " ") })
        guard let position = token.withUnsafeBytes(PositionToken.position), positions.count < maxTokens else {
          throw .invalidPosition(name)
        }
        positions.append(position)
      }
    }
    guard !positions.isEmpty else { throw .invalidPosition(name) }
    return positions
  }
}

/// The barrier of one event loop. It keeps the last token that it decoded, because many calls follow one write.
final class LoopPositionBarrier {
  /// Waits on behalf of calls that leave the event loop.
  let barrier: PositionBarrier
  private var token: [UInt8] = []
  private var position: StorePosition?

  init(_ barrier: PositionBarrier) { self.barrier = barrier }

  /// As ``PositionBarrier/hasReached(_:)``.
  func hasReached(_ headers: HeaderFields) -> Bool {
    var hasReached = true
    headers.withFields { fields in
      for field in fields where hasReached && field.name.equals(CallContext.requiredPositionField) {
        hasReached = position(in: field.value).map { barrier.feed.reach($0) == .reached } ?? false
      }
    }
    return hasReached
  }

  /// Returns the position of a token; `nil` for any other text.
  private func position(in text: UnsafeRawBufferPointer) -> StorePosition? {
    if token.withUnsafeBytes({ $0.hasSameBytes(as: text) }) { return position }
    guard let decoded = PositionToken.position(in: text) else { return nil }
    // All tokens have one length, so that only the first one allocates.
    if token.count == text.count {
      token.withUnsafeMutableBytes { $0.copyMemory(from: text) }
    } else {
      token = Array(text)
    }
    position = decoded
    return decoded
  }
}

extension Method {
  /// The same method, whose calls wait for the positions that they require. Methods on an event loop do it themselves.
  func waiting(at barrier: PositionBarrier) -> Method {
    switch handler {
    case .unary: return self
    case .asyncUnary(let handler):
      return Method(
        path: path,
        handler: .asyncUnary { request, call throws(Status) in
          let work = try handler(request, call)
          guard call.requiresPosition, !barrier.hasReached(call.headers) else { return work }
          return { () async throws(Status) in
            try await barrier.wait(for: call)
            return try await work()
          }
        }, needsAddress: needsAddress)
    case .streaming(let handler):
      return Method(
        path: path,
        handler: .streaming { stream, call async throws(Status) in
          if call.requiresPosition { try await barrier.wait(for: call) }
          try await handler(stream, call)
        }, needsAddress: needsAddress)
    }
  }
}
