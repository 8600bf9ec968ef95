internal import CLinux
internal import Glibc

/// The cores that this process may use: those of its CPU affinity, and no more than the CPU quotas of its control groups
/// allow.
///
/// The number of cores of the machine is that of a whole node for a container. As many threads would use up the quota
/// of a period in its first part, and then all of them, event loops too, would wait for the next period.
package enum AvailableCores {
  /// The number at the first use, at least 1.
  package static let count = combined(
    affinity: Int(entitled_affinity_cores()), limit: ControlGroup.own.coreLimit)

  /// The lower one of the cores of the affinity, which is 0 if it is not known, and of the limit of control groups.
  static func combined(affinity: Int, limit: Int?) -> Int {
    let cores = affinity > 0 ? affinity : sysconf(CInt(_SC_NPROCESSORS_ONLN))
    return max(1, min(cores, limit ?? cores))
  }
}

/// The control group of a process, with its limits (cgroups(7), versions 2 and 1).
struct ControlGroup {
  /// The control group of this process.
  static let own = ControlGroup(
    root: "/sys/fs/cgroup", membership: firstLine(of: "/proc/self/cgroup") ?? "")

  /// Where the control groups are mounted. In a container this is usually its own group.
  private let root: String
  /// The group and those around it, from the inside out, without the root; empty in a container.
  private let groups: [String]

  /// `membership` is the first line of `/proc/PID/cgroup`, which names the group in version 2.
  init(root: String, membership: String) {
    self.root = root
    let path = membership.hasPrefix("0::/") ? membership.dropFirst(4).split(separator: "/") : []
    groups = (0..<path.count).map { "/" + path.dropLast($0).joined(separator: "/") }
  }

  /// The number of cores that the CPU quotas allow, rounded up; `nil` without a quota. A quota of a group counts for those
  /// in it, too.
  var coreLimit: Int? {
    let quotas = (groups + [""]).compactMap { Self.firstLine(of: "\(root)\($0)/cpu.max") }
    guard quotas.isEmpty else {
      return quotas.compactMap { quota in
        let parts = quota.split(separator: " ").map { Int($0) }
        return parts.count == 2 ? Self.cores(quota: parts[0], period: parts[1]) : nil
      }.min()
    }
    return Self.cores(quota: number(in: "cpu/cpu.cfs_quota_us"), period: number(in: "cpu/cpu.cfs_period_us"))
  }

  /// The memory limit in bytes; `nil` without one.
  var memoryLimit: UInt64? {
    let files = [
      "\(groups.first ?? "")/memory.max", "/memory.max", "/memory/memory.limit_in_bytes",
    ]
    // Without a limit, the text is "max".
    return files.lazy.compactMap { Self.firstLine(of: root + $0) }.first.flatMap { UInt64($0) }
  }

  /// Without a quota, it is "max" in version 2 and -1 in version 1.
  private static func cores(quota: Int?, period: Int?) -> Int? {
    guard let quota, let period, quota > 0, period > 0 else { return nil }
    return quota / period + (quota % period == 0 ? 0 : 1)
  }

  private func number(in file: String) -> Int? { Self.firstLine(of: "\(root)/\(file)").flatMap { Int($0) } }

  private static func firstLine(of path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 512)
    guard fgets(&text, CInt(text.count), file) != nil else { return nil }
    return String(decoding: text.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
