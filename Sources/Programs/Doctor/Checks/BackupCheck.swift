package import AppStore
internal import Foundation

/// Looks at the age of the latest backup.
package struct BackupCheck: DoctorCheck {
  package let name = "backup"
  package var subject: String { path }
  package let timeLimit = Duration.seconds(10)
  private let path: String
  private let maxAgeHours: Int64
  private let now: @Sendable () -> Instant

  /// `path` is a backup, or a directory in which backups are, for example that of Litestream. A latest change of
  /// `maxAgeHours` or more is a fault.
  package init(path: String, maxAgeHours: Int64, now: @escaping @Sendable () -> Instant) {
    self.path = path
    self.maxAgeHours = maxAgeHours
    self.now = now
  }

  /// A fault without a backup, and for one that is too old. Only the times of files are read, not their content.
  package func run() async -> Finding {
    let create = "run 'entitled store backup', and repeat it every day"
    guard FileManager.default.fileExists(atPath: path) else {
      return .fault("it does not exist", action: create)
    }
    guard let latest = Self.latestChange(path) else { return .fault("it has no backup", action: create) }
    let hours = now().milliseconds(since: latest) / 3_600_000
    guard hours < maxAgeHours else {
      return .fault("the latest backup is \(hours) h old, of \(latest)", action: create)
    }
    return .ok("\(hours) h old, of \(maxAgeHours) h")
  }

  /// The latest change of a file with content, at or below `path`.
  private static func latestChange(_ path: String) -> Instant? {
    let root = URL(fileURLWithPath: path)
    let keys: Set<URLResourceKey> = [.isRegularFileKey, .fileSizeKey, .contentModificationDateKey]
    let below = FileManager.default.enumerator(at: root, includingPropertiesForKeys: Array(keys))
    var latest: Date?
    for file in [root] + (below?.compactMap { $0 as? URL } ?? []) {
      guard let values = try? file.resourceValues(forKeys: keys), values.isRegularFile == true,
        values.fileSize ?? 0 > 0, let date = values.contentModificationDate
      else { continue }
      latest = max(latest ?? date, date)
    }
    return latest.map { Instant(millisecondsSince1970: Int64($0.timeIntervalSince1970 * 1_000)) }
  }
}
