/// The purchase lines that are being worked on, so that two receipts of one Apple account are not asked about at
/// the same time.
package actor LineLocks {
  private var lines: Set<String> = []
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Nothing is being worked on.
  package init() {}

  /// Waits until none of `wanted` is being worked on, and then takes all of them.
  func lock(_ wanted: [String]) async {
    while !lines.isDisjoint(with: wanted) {
      await withCheckedContinuation { waiting.append($0) }
    }
    lines.formUnion(wanted)
  }

  /// Gives back what was taken.
  func unlock(_ done: [String]) {
    lines.subtract(done)
    let waiting = waiting
    self.waiting = []
    for continuation in waiting { continuation.resume() }
  }
}
