import Platform
import Testing

@Suite struct TimeLimitTests {
  @Test("Work that ends in time returns its result")
  func inTime() async {
    #expect(await withTimeLimit(.seconds(600)) { 7 } == 7)
  }

  @Test("Work without an end is cancelled at the limit")
  func late() async {
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    let result = await withTimeLimit(.zero) {
      try? await Task.sleep(for: .seconds(600))
      end.yield(Task.isCancelled)
      return 7
    }
    #expect(result == nil)
    for await isCancelled in ends {
      #expect(isCancelled)
      break
    }
  }

  @Test("The limit does not outlive a cancelled caller", .timeLimit(.minutes(10)))
  func cancellation() async {
    let caller = Task {
      await withTimeLimit(.seconds(600)) {
        try? await Task.sleep(for: .seconds(600))
        return 7
      }
    }
    caller.cancel()
    #expect(await caller.value == nil)
  }
}
