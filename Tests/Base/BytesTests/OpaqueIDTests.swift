import Bytes
import Testing

@Suite("Ids that only their bytes identify")
struct OpaqueIDTests {
  private let composed = "ren\u{E9}"
  private let decomposed = "rene\u{301}"

  @Test("Canonically equivalent texts are different ids")
  func equivalent() {
    #expect(composed == decomposed)
    #expect(OpaqueID(composed) != OpaqueID(decomposed))
    #expect(Set([composed, decomposed, composed].map(OpaqueID.init)).count == 2)
    #expect([composed].containsID(composed) && ![composed].containsID(decomposed))
  }

  @Test("Each id is kept once, in the order of the first")
  func distinct() {
    let ids = ["b", decomposed, "a", composed, "b", decomposed].distinctIDs
    #expect(ids.map { Array($0.utf8) } == ["b", decomposed, "a", composed].map { Array($0.utf8) })
  }
}
