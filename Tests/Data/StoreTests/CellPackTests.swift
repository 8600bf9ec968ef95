import Reports
import Store
import TestSupport
import Testing

@testable import SQLStore

@Suite struct CellPackTests {
  private static func random(_ seed: UInt64) -> StoredCell {
    var random = SplitMix64(state: seed)
    func number(_ limit: Int64) -> Int64 {
      // Often 0, and of both signs.
      Bool.random(using: &random) ? 0 : Int64.random(in: -limit...limit, using: &random)
    }
    return StoredCell(
      kind: 7, knownDay: 20_000, cohortDay: Bool.random(using: &random) ? noCohort : 19_000 + number(900),
      day: 20_000 - abs(number(9_000)), keyID: Int64.random(in: .min ... .max, using: &random),
      age: number(2_000_000), units: number(.max / 4), amount: number(.max / 4), proceeds: number(.max / 4))
  }

  private static func cells(in bytes: [UInt8]) throws -> [StoredCell] {
    var cells: [StoredCell] = []
    try bytes.withUnsafeBufferPointer { bytes in
      try CellPack.forEachCell(in: bytes, of: 7, knownDay: 20_000) { cells.append($0) }
    }
    return cells
  }

  @Test("The cells of a pack are those that were added")
  func roundTrip() throws {
    let cells = (UInt64(0)..<500).map(Self.random)
    var pack = CellPack()
    for cell in cells.prefix(200) { pack.append(cell) }
    // A stored pack goes on.
    var next = CellPack(pack.bytes)
    for cell in cells.dropFirst(200) { next.append(cell) }
    #expect(try Self.cells(in: next.bytes) == cells)
  }

  @Test("The sum of a charge takes few bytes")
  func size() {
    var pack = CellPack()
    pack.append(
      StoredCell(
        kind: 80, knownDay: 20_000, cohortDay: noCohort, day: 20_000, keyID: .max, age: 0, units: 12,
        amount: 119_880, proceeds: 83_916))
    #expect(pack.bytes.count == 16)
  }

  @Test("A pack that is cut off is an error, not a smaller sum")
  func truncated() throws {
    var pack = CellPack()
    for seed in UInt64(0)..<20 { pack.append(Self.random(seed)) }
    var ends: Set<Int> = []
    var all = CellPack()
    for seed in UInt64(0)..<20 {
      ends.insert(all.bytes.count)
      all.append(Self.random(seed))
    }
    for end in 0..<pack.bytes.count where !ends.contains(end) {
      #expect(throws: StoreError.self) { try Self.cells(in: Array(pack.bytes.prefix(end))) }
    }
  }
}

@Suite struct CellTotalsTests {
  @Test("Each kind, day and group has one sum, in whatever order the cells come")
  func sums() {
    struct Key: Hashable {
      let run: CellTotals.Run
      let group: Int
    }
    var random = SplitMix64(state: 25)
    for isOrdered in [true, false] {
      var cells: [(key: Key, units: Int64)] = []
      for _ in 0..<2_000 {
        let run = CellTotals.Run(
          kind: Int64.random(in: 1...3, using: &random), day: Int64.random(in: 0...9, using: &random),
          knownDay: 0, cohortDay: noCohort, age: 0)
        let group = Int.random(in: 0...20, using: &random)
        cells.append((Key(run: run, group: group), Int64.random(in: -9...9, using: &random)))
      }
      if isOrdered { cells.sort { ($0.key.run.kind, $0.key.run.day) < ($1.key.run.kind, $1.key.run.day) } }
      var totals = CellTotals()
      for cell in cells { totals.add(ReportCell.Sums(count: cell.units), to: cell.key.run, cell.key.group) }
      var expected: [Key: Int64] = [:]
      for cell in cells { expected[cell.key, default: 0] += cell.units }
      #expect(totals.all.count == expected.count)
      for total in totals.all {
        #expect(total.sums.count == expected[Key(run: totals.runs[Int(total.run)], group: Int(total.group))])
      }
    }
  }
}

@Suite struct KeyNumbersTests {
  @Test("Each key has its number, and another key has none")
  func lookup() {
    var random = SplitMix64(state: 27)
    // Keys whose lowest bits are equal, too.
    let keys = (0..<3_000).map { number in
      number % 3 == 0 ? Int64(number) << 40 : Int64.random(in: .min ... .max, using: &random)
    }
    var table = KeyNumbers(capacity: keys.count)
    for (number, key) in keys.enumerated() { table.set(number, of: key) }
    #expect(keys.map { table[$0] } == keys.indices.map { Optional($0) })
    let others = (0..<3_000).map { _ in Int64.random(in: .min ... .max, using: &random) }
    #expect(Set(others).subtracting(keys).allSatisfy { table[$0] == nil })
  }
}
