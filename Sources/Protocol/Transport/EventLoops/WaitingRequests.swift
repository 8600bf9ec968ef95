internal import HTTP
internal import Synchronization

/// Bounds the complete requests of a listener that wait for a background thread, in number and bytes.
final class WaitingRequests: Sendable {
  private struct Load {
    var count = 0
    var bytes = 0
  }

  private let limits: (count: Int, bytes: Int)
  private let load = Mutex(Load())

  /// Some seconds of work for one thread, even if each request has signatures to verify.
  init(count: Int = 10_000, bytes: Int) { limits = (count, bytes) }

  /// Counts a request until ``end(_:)``; returns false, if too many wait already. The last quarter is kept for `preferred`
  /// requests.
  func begin(_ bytes: Int, preferred: Bool = false) -> Bool {
    load.withLock { load in
      let parts = preferred ? 4 : 3
      guard load.count < limits.count / 4 * parts, load.bytes + bytes <= limits.bytes / 4 * parts else {
        return false
      }
      load.count += 1
      load.bytes += bytes
      return true
    }
  }

  /// Ends the count of a request with as many bytes, which a thread handles from now on.
  func end(_ bytes: Int) {
    load.withLock { load in
      load.count -= 1
      load.bytes -= bytes
    }
  }

  /// What a request costs besides its fields and body, in bytes.
  static let overhead = 1_024
}

extension HTTPRequest {
  /// The bytes that a request occupies while it waits, about. Fields have as much room to grow.
  var waitingBytes: Int {
    headers.strings.reduce(WaitingRequests.overhead + body.count) {
      $0 + 2 * ($1.name.utf8.count + $1.value.utf8.count)
    }
  }
}

extension HTTPResponse {
  /// 503, because too many requests wait.
  static var tooManyWaiting: HTTPResponse {
    var response = HTTPResponse.text(503, "too many requests wait; try again\n")
    response.headers.append(name: "retry-after", value: "1")
    return response
  }
}
