internal import AppStore
internal import Bytes
internal import SignedData

/// The signature of a webhook, which RevenueCat adds if signing is turned on for it: the header
/// `X-RevenueCat-Webhook-Signature: t=SECONDS,v1=HEX` with the HMAC-SHA256 of `SECONDS.BODY`.
///
/// Each attempt to deliver an event has its own time. While the secret is replaced, there are several `v1`.
struct RevenueCatSignature {
  /// The greatest distance of its time from now, so that a captured request cannot be sent again later.
  private static let toleranceMilliseconds: Int64 = 300_000
  /// More than a rotation needs; bounds the work for a request of a stranger.
  private static let maxCodes = 8

  /// The seconds since 1970, as they are signed.
  private let seconds: String
  private let time: Instant
  private let codes: [[UInt8]]

  /// Parses the header; `nil` without exactly the parts `t` and at least one and at most eight `v1`. Parts with other
  /// names are ignored, so that RevenueCat can add a scheme.
  init?(_ header: String) {
    var seconds: String?
    var codes: [[UInt8]] = []
    for part in header.split(separator: ",") {
      let pair = String(part).trimmed.split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { return nil }
      switch pair[0] {
      case "t": seconds = String(pair[1])
      case "v1":
        guard let code = Hex.decode(pair[1]), codes.count < Self.maxCodes else { return nil }
        codes.append(code)
      default: break
      }
    }
    guard let seconds, let number = Int64(seconds), (0...Self.maxSeconds).contains(number), !codes.isEmpty
    else { return nil }
    self.seconds = seconds
    time = Instant(millisecondsSince1970: number * 1_000)
    self.codes = codes
  }

  /// The end of the year 9999.
  private static let maxSeconds: Int64 = 253_402_300_799

  /// Checks the signature of `body` at `now`: first the code, in constant time, and then its age, at most five minutes
  /// in either direction.
  ///
  /// - Throws: ``RevenueCatRejection/wrongSignature``, ``RevenueCatRejection/staleSignature(_:)``.
  func check(_ body: [UInt8], secret: SharedSecret, at now: Instant) throws(RevenueCatRejection) {
    let expected = HMACSHA256.code(of: Array("\(seconds).".utf8) + body, key: Array(secret.text.utf8))
    guard codes.contains(where: { constantTimeEquals($0, expected) }) else { throw .wrongSignature }
    guard abs(now.milliseconds(since: time)) <= Self.toleranceMilliseconds else {
      throw .staleSignature(time)
    }
  }
}
