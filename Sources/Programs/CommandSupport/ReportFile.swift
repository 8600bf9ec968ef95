internal import Platform

/// Reads files of App Store Connect's reports.
package enum ReportFile {
  /// Apple's largest daily reports have some hundred megabytes.
  private static let limit = 1 << 30

  /// The text of a report, which is gzip or plain.
  package static func text(of bytes: [UInt8], named name: String) throws(Failure) -> String {
    var plain = bytes
    if bytes.starts(with: [0x1F, 0x8B]) {
      do {
        plain = try bytes.withUnsafeBytes { try gunzip($0, limit: limit) }
      } catch {
        throw Failure("cannot read '\(name)': \(error)")
      }
    }
    return String(decoding: plain, as: UTF8.self)
  }
}
