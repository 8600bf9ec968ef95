internal import Bytes

/// The position of a call in a trace (W3C Trace Context). The trace id comes from the caller or is generated; each traced
/// call has its own id, `request_id` in the logs.
package struct TraceContext: Hashable, Sendable {
  /// 32 lowercase hexadecimal digits, not all zero.
  package let traceID: String
  /// 16 lowercase hexadecimal digits, not all zero.
  package let requestID: String
  /// Whether the caller records the trace; forwarded unchanged.
  package let isSampled: Bool

  /// The trace of the call that the current task serves, for log lines and outgoing calls.
  @TaskLocal package static var current: TraceContext?

  /// Continues the trace of a `traceparent` header; starts a new trace if it is missing or malformed.
  package init(continuing traceparent: String?, using generator: inout some RandomNumberGenerator) {
    let parent = traceparent.flatMap(Self.parent)
    traceID = parent?.traceID ?? Hex.encode(generator.next()) + Hex.encode(generator.next() | 1)
    requestID = Hex.encode(generator.next() | 1)
    isSampled = parent?.isSampled ?? false
  }

  /// The `traceparent` header of outgoing calls, whose parent is this call.
  package var traceparent: String { "00-\(traceID)-\(requestID)-\(isSampled ? "01" : "00")" }

  private static func parent(_ text: String) -> (traceID: String, isSampled: Bool)? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0].utf8.count == 2, isHexadecimal(parts[0]), parts[0] != "ff",
      parts[0] != "00" || parts.count == 4, isID(parts[1], digits: 32), isID(parts[2], digits: 16),
      parts[3].utf8.count == 2, isHexadecimal(parts[3]), let flags = UInt8(parts[3], radix: 16)
    else { return nil }
    return (String(parts[1]), flags & 1 == 1)
  }

  private static func isID(_ text: Substring, digits: Int) -> Bool {
    text.utf8.count == digits && isHexadecimal(text) && text.utf8.contains { $0 != UInt8(ascii: "0") }
  }

  private static func isHexadecimal(_ text: Substring) -> Bool {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (97...102).contains($0) }
  }
}
