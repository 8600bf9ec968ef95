import Platform
import Testing

@Suite struct ExportedGaugesTests {
  @Test("A lower total does not raise a counter again until the earlier one is exceeded")
  func lowerTotal() {
    let gauges = ExportedGauges()
    let added = [10, 3, 5, 11].map { gauges.count("revisions", [("app", "ocean")], total: $0) }
    #expect(added == [10, 0, 0, 1])
    #expect(gauges.count("revisions", [("app", "reef")], total: 4) == 4)
  }
}
