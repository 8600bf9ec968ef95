import Platform
import Testing

@Suite struct ProcessLimitsTests {
  @Test("A limit that is too low is named with its value, the needed one, and the setting that raises it")
  func tooLow() {
    let needed = 64 + 8 * 100_000_000
    let text =
      "the limit of \(OpenFiles.limit) open files is too low; raise it to at least \(needed), better 65536 "
      + "(ulimit -n, LimitNOFILE= of systemd)"
    #expect {
      try ProcessLimits.require(eventLoops: 100_000_000)
    } throws: {
      ($0 as? LimitTooLow)?.description == text
    }
  }

  @Test("One event loop fits into the limits of any machine that runs tests")
  func enough() throws {
    try ProcessLimits.require(eventLoops: 1)
  }
}
