internal import Callers
internal import Synchronization

/// The live pages that are open: a few of each person, because each keeps a connection and a subscription.
final class LivePages: Sendable {
  static let maxPerPerson = 8
  static let maxTotal = 256

  private let open = Mutex<[String: Int]>([:])

  /// A slot for another page of `person`, until it is released; `nil` if the person, or all together, have too many.
  func slot(of person: Person) -> Slot? {
    let key = person.key
    let isFree = open.withLock { open in
      guard open[key, default: 0] < Self.maxPerPerson, open.values.reduce(0, +) < Self.maxTotal else {
        return false
      }
      open[key, default: 0] += 1
      return true
    }
    return isFree ? Slot(pages: self, key: key) : nil
  }

  private func release(_ key: String) {
    open.withLock { open in
      let rest = open[key, default: 1] - 1
      open[key] = rest > 0 ? rest : nil
    }
  }

  /// Counts as one page while it exists.
  final class Slot: Sendable {
    private let pages: LivePages
    private let key: String

    fileprivate init(pages: LivePages, key: String) {
      self.pages = pages
      self.key = key
    }

    deinit { pages.release(key) }
  }
}
