internal import Store

/// The ids that replace those of erased customers: `erased-7` after the erasure with the evidence 7, `erased-7-1` for the
/// first customer that was merged into that one. No customer can get such an id otherwise.
enum Pseudonym {
  private static let prefix = "erased-"

  /// The pseudonyms of the customers that one erasure erases, the merge target first.
  static func all(by erasure: EvidenceID, count: Int) -> [String] {
    (0..<count).map { "\(prefix)\(erasure.rawValue)\($0 == 0 ? "" : "-\($0)")" }
  }

  /// The erasure that a customer id names in the form of a pseudonym; `nil` for ids of another form.
  static func erasure(in customerID: String) -> EvidenceID? {
    guard customerID.hasPrefix(prefix) else { return nil }
    let numbers = customerID.dropFirst(prefix.count).split(
      separator: "-", omittingEmptySubsequences: false)
    guard numbers.count <= 2, numbers.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      numbers.last != ""
    else { return nil }
    return numbers.first.flatMap { Int64($0) }.map(EvidenceID.init)
  }
}
