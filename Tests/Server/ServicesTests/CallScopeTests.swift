import Testing

@testable import Services

@Suite("The subject of a call")
struct CallScopeTests {
  @Test("A response shows each customer once; canonically equivalent ids are different customers")
  func shownCustomers() {
    var subject = CallInFlight.Subject()
    subject.customers = ["ren\u{E9}"]
    let scope = CallScope(caller: nil)
    CallScope.$current.withValue(scope) {
      CallScope.show(["ren\u{E9}", "rene\u{301}", "ada", "", "rene\u{301}"])
    }
    scope.add(to: &subject)
    #expect(subject.customers.map { $0.utf8.count } == [5, 6, 3])
  }
}
