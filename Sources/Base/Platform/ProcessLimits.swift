internal import Glibc

/// A limit of the process or its container that is too low to start.
package struct LimitTooLow: Error, Hashable, Sendable, CustomStringConvertible {
  /// The limit with its unit, what it should be, and the setting that raises it.
  package let description: String
}

/// Checks the limits under which libraries would end the process in the middle of the start: they assume that they can
/// open a file, create a thread and allocate memory.
package enum ProcessLimits {
  private static let mebibyte: UInt64 = 1 << 20
  /// The memory that the service needs without data, and without the stacks of its threads.
  private static let minMemory = 64 * mebibyte
  /// The address space that the program, its libraries and the mapping of a small store need.
  private static let programSpace = 512 * mebibyte
  /// glibc's default stack.
  private static let stackSpace = 8 * mebibyte
  /// The address space that malloc reserves for the first threads that allocate: 16 times 64 MiB. Further threads share
  /// these parts if there is no more.
  private static let arenaSpace = 1024 * mebibyte

  /// Checks all limits for `eventLoops` event loops for calls and as many for the edge.
  ///
  /// - Throws: the first limit that is too low.
  package static func require(eventLoops: Int) throws(LimitTooLow) {
    // Each event loop has three descriptors; the rest is for the store and the first connections.
    try require(files: 64 + 8 * eventLoops)
    let threads = 6 * eventLoops + 16
    let stacks = UInt64(threads) * stackSpace
    try require(addressSpace: programSpace + arenaSpace + stacks, RLIMIT_AS, "v")
    try require(addressSpace: minMemory + stacks, RLIMIT_DATA, "d")
    if let limit = ControlGroup.own.memoryLimit, limit < minMemory {
      throw LimitTooLow(
        description: "the container's memory limit of \(limit / mebibyte) MiB is too low; "
          + "raise it to at least \(minMemory / mebibyte) MiB")
    }
    guard canCreate(threads: threads) else {
      throw LimitTooLow(
        description: "cannot create \(threads) threads; raise the limit of processes "
          + "(ulimit -u, TasksMax= of systemd, pids.max of the container)")
    }
  }

  private static func require(files needed: Int) throws(LimitTooLow) {
    let limit = OpenFiles.limit
    guard limit < needed else { return }
    throw LimitTooLow(
      description:
        "the limit of \(limit) open files is too low; raise it to at least \(needed), better 65536 "
        + "(ulimit -n, LimitNOFILE= of systemd)")
  }

  private static func require(
    addressSpace needed: UInt64, _ resource: __rlimit_resource, _ flag: String
  ) throws(LimitTooLow) {
    var limits = rlimit()
    guard getrlimit(__rlimit_resource_t(resource.rawValue), &limits) == 0, limits.rlim_cur < needed else {
      return
    }
    throw LimitTooLow(
      description: "the memory limit of \(UInt64(limits.rlim_cur) / mebibyte) MiB is too low; "
        + "raise it to at least \(needed / mebibyte) MiB (ulimit -\(flag) \(needed / 1024))")
  }

  /// Whether this many threads can exist at a time. They have small stacks and end at once.
  private static func canCreate(threads count: Int) -> Bool {
    let gate = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    sem_init(gate, 0, 0)
    pthread_attr_init(attributes)
    defer {
      sem_destroy(gate)
      pthread_attr_destroy(attributes)
      gate.deallocate()
      attributes.deallocate()
    }
    pthread_attr_setstacksize(attributes, 64 << 10)
    var threads: [pthread_t] = []
    var (thread, result) = (pthread_t(), CInt(0))
    while threads.count < count, result == 0 {
      result = pthread_create(&thread, attributes, waitForGate, gate)
      if result == 0 { threads.append(thread) }
    }
    for _ in threads { sem_post(gate) }
    for thread in threads { pthread_join(thread, nil) }
    return result == 0
  }
}

/// The body of a trial thread: waits until all are created.
private func waitForGate(_ gate: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let gate else { return nil }
  while sem_wait(gate.assumingMemoryBound(to: sem_t.self)) != 0 {}
  return nil
}
