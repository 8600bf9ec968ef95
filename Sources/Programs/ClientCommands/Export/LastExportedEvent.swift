internal import CommandSupport
internal import Foundation
internal import JSON
internal import Platform
internal import Wire

/// The last event in the directory of an export, which the service must still have when the export continues.
///
/// A sequence alone names no history: after a restored backup, or a failover that lost commits, other events have the
/// sequences of the lost ones.
struct LastExportedEvent {
  /// The maximum size of a file's content; it has 100,000 rows at most.
  private static let maxSize = 1 << 30
  private static let lineEnd = UInt8(ascii: "\n")

  let sequence: Int64
  private let recordedAt: String
  /// The file that has it.
  private let path: String

  /// Reads the file of events at `path`.
  ///
  /// - Throws: ``Failure`` if its last line is no event.
  init(path: String) throws(Failure) {
    let content: [UInt8]
    do {
      let file = try Data(contentsOf: URL(fileURLWithPath: path))
      content = try file.withUnsafeBytes { try gunzipFile($0, limit: Self.maxSize) }
    } catch {
      throw Failure("cannot read '\(path)': \(error)")
    }
    try self.init(rows: content, path: path)
  }

  /// Reads the last of the rows that are written to the file at `path`.
  init(rows: [UInt8], path: String) throws(Failure) {
    let end = rows.last == Self.lineEnd ? rows.endIndex - 1 : rows.endIndex
    let start = rows[..<end].lastIndex(of: Self.lineEnd).map { $0 + 1 } ?? 0
    guard let row = try? JSONValue(parsing: Array(rows[start..<end])).objectValue,
      let sequence = row["sequence"]?.int64Value, let recordedAt = row["recorded_at"]?.stringValue
    else { throw Failure("the last line of '\(path)' is no event") }
    (self.sequence, self.recordedAt, self.path) = (sequence, recordedAt, path)
  }

  /// Requires that `event`, the first one of the service from this sequence on, is this one. An erasure changes neither
  /// the sequence nor the time.
  func require(_ event: EntitlementEvent?) throws(Failure) {
    guard event?.sequence == sequence, event?.recordedAt.text == recordedAt else {
      throw Failure(
        "event \(sequence) in '\(path)' is not that of the service, which was restored or lost commits; "
          + "export into a new directory")
    }
  }
}
