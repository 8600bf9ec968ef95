internal import Foundation
internal import Platform
internal import Telemetry

/// Metrics of the process and of the disk of the data directory, read when they are scraped.
struct ProcessMetrics: MetricsSource {
  /// The directory whose file system is measured.
  let dataDirectory: String

  /// Reads a few files of `/proc` with each scrape; a file that cannot be read has no samples.
  func samples() -> [MetricSample] {
    Self.resources + Self.openFiles + disk
      + [MetricSample("entitled_log_lines_lost_total", Double(Logs.lostLines))]
  }

  /// CPU time, memory and start, from `/proc/self/stat`; empty if it cannot be read.
  private static var resources: [MetricSample] {
    // proc(5), "/proc/pid/stat": the fields after the name in parentheses, which may contain any character.
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      let end = stat.lastIndex(of: ")")
    else { return [] }
    let fields = stat[end...].split(separator: " ")
    func field(_ number: Int) -> Double { fields.count > number - 2 ? Double(fields[number - 2]) ?? 0 : 0 }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    return [
      MetricSample("process_cpu_seconds_total", (field(14) + field(15)) / ticks),
      MetricSample("process_resident_memory_bytes", field(24) * Double(sysconf(Int32(_SC_PAGESIZE)))),
      MetricSample("process_start_time_seconds", bootTime + field(22) / ticks),
    ]
  }

  /// Seconds since 1970; 0 if unknown.
  private static let bootTime: Double = {
    let stat = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
    let line = stat.split(separator: "\n").first { $0.hasPrefix("btime ") }
    return line.flatMap { Double($0.dropFirst(6)) } ?? 0
  }()

  /// The open descriptors and their limit (`RLIMIT_NOFILE`).
  private static var openFiles: [MetricSample] {
    [
      MetricSample("process_open_fds", Double(OpenFiles.count)),
      MetricSample("process_max_fds", Double(OpenFiles.limit)),
    ]
  }

  /// Free space, and the size of SQLite's files; none of them for a store that is elsewhere.
  private var disk: [MetricSample] {
    guard let free = DiskSpace.free(at: dataDirectory) else { return [] }
    let files = ["entitled.sqlite", "entitled.sqlite-wal"].map { "\(dataDirectory)/\($0)" }
    let bytes = files.compactMap { path in
      (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64) ?? nil
    }
    return [
      MetricSample("entitled_disk_free_bytes", Double(free)),
      MetricSample("entitled_store_bytes", Double(bytes.reduce(0, +))),
    ]
  }
}

/// Free space of disks.
enum DiskSpace {
  /// The free bytes of the file system of `path`; `nil` on an error.
  static func free(at path: String) -> Int64? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return Int64(status.f_bavail) * Int64(status.f_frsize)
  }
}
