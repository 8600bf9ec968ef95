internal import Glibc

/// The open files of the process and their limit (`RLIMIT_NOFILE`).
package enum OpenFiles {
  /// The soft limit, which the kernel enforces.
  package static var limit: Int { Int(clamping: limits.rlim_cur) }

  /// The number of open descriptors; 0 if it is unknown.
  package static var count: Int {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var entries = 0
    while readdir(folder) != nil { entries += 1 }
    // Neither ".", ".." nor the descriptor of the folder.
    return max(0, entries - 3)
  }

  /// Whether few descriptors are free, so that none should go to a new connection. They are kept for what the process
  /// itself opens: libdispatch, which runs Swift's tasks, opens a file of /proc each second while tasks wait, and ends the
  /// process if it cannot.
  package static var areScarce: Bool {
    // The kernel gives the lowest free number.
    let lowest = open("/", O_RDONLY | O_CLOEXEC)
    guard lowest >= 0 else { return errno == EMFILE || errno == ENFILE }
    close(lowest)
    return Int(lowest) >= limit - reserve
  }

  private static let reserve = 16

  /// Raises the soft limit to the hard one. Distributions keep the soft limit at 1,024 for programs that call
  /// select(2); this one uses epoll.
  package static func raiseLimit() {
    var raised = limits
    raised.rlim_cur = raised.rlim_max
    setrlimit(resource, &raised)
  }

  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

  private static var limits: rlimit {
    var limits = rlimit()
    getrlimit(resource, &limits)
    return limits
  }
}
