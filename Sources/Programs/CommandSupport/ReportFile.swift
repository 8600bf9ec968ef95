internal import Bytes
internal import Platform

/// Reads files of App Store Connect's reports and exports of other systems.
package enum ReportFile {
  /// Apple's largest daily reports have some hundred megabytes.
  private static let limit = 1 << 30

  /// The text of a report, which is gzip or plain. A byte that is no UTF-8 could be in an id, so it is an error.
  ///
  /// - Throws: ``Failure`` that names the line, or the encoding and its remedy.
  package static func text(of bytes: [UInt8], named name: String) throws(Failure) -> String {
    let plain = try plain(bytes, named: name)
    guard let text = String(validating: plain, as: UTF8.self) else {
      let lines = plain.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
      throw Failure(
        "cannot read '\(name)': line \(line + 1) is not UTF-8; convert the file, for example with iconv")
    }
    return text
  }

  /// The bytes of a text, which is gzip or plain, and not UTF-16.
  package static func plain(_ bytes: [UInt8], named name: String) throws(Failure) -> [UInt8] {
    let plain = try decompressed(bytes, named: name)
    if let encoding = WideEncoding(beginningWith: plain) {
      throw Failure("cannot read '\(name)': the text is \(encoding.rawValue); \(encoding.remedy)")
    }
    return plain
  }

  /// The bytes without gzip, at most one GiB of them.
  private static func decompressed(_ bytes: [UInt8], named name: String) throws(Failure) -> [UInt8] {
    guard bytes.starts(with: [0x1F, 0x8B]) else { return bytes }
    do {
      return try bytes.withUnsafeBytes { try gunzipFile($0, limit: limit) }
    } catch {
      throw Failure("cannot read '\(name)': \(error)")
    }
  }
}
