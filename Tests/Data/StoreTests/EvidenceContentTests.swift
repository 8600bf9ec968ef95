import Store
import TestSupport
import Testing

@Suite struct EvidenceContentTests {
  @Test("Content above the limit keeps only its hash and size")
  func tooLarge() {
    let content = EvidenceContent([1, 2, 3], keepingAtMost: 2)
    #expect(content.body == nil)
    #expect(content.size == 3)
    #expect(content.hash == EvidenceContent([1, 2, 3]).hash)
    #expect(EvidenceContent([1, 2, 3], keepingAtMost: 3).body == [1, 2, 3])
  }
}
