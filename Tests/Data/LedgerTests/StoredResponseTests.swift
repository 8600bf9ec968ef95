import Testing

@testable import Ledger

@Suite struct StoredResponseTests {
  @Test("A large response is stored compressed and read unchanged, a small one as it is")
  func compression() throws {
    let large = (0..<50_000).map { UInt8($0 / 256 & 0x7F) }
    let stored = StoredResponse.encode(large)
    #expect(stored.count < large.count / 10 && stored.starts(with: [0x1F, 0x8B]))
    #expect(try StoredResponse.decode(stored) == large)
    for small in [[], [8, 1], [UInt8](repeating: 8, count: 1_024)] as [[UInt8]] {
      #expect(StoredResponse.encode(small) == small)
      #expect(try StoredResponse.decode(small) == small)
    }
  }

  @Test("A response that compression does not shorten is stored as it is")
  func incompressible() throws {
    var generator = SystemRandomNumberGenerator()
    let random = [8] + (0..<5_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    #expect(StoredResponse.encode(random) == random)
    #expect(try StoredResponse.decode(random) == random)
  }

  @Test("A damaged response is an error")
  func damaged() {
    #expect(throws: LedgerError.self) { try StoredResponse.decode([0x1F, 0x8B, 1, 2, 3]) }
  }
}
