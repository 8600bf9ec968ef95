import Testing

@testable import Doctor

@Suite("Doctor report")
struct DoctorReportTests {
  private struct Fixed: DoctorCheck {
    let name = "fixed"
    let subject = "app"
    var timeLimit = Duration.seconds(60)
    let finding: Finding

    func run() async -> Finding { finding }
  }

  /// A check that never ends by itself and ignores its cancellation, as a blocked resolver does.
  private struct Stuck: DoctorCheck {
    let name = "stuck"
    let subject = ""
    let timeLimit = Duration.milliseconds(20)

    func run() async -> Finding {
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      return .ok("never")
    }
  }

  @Test("A report without faults is healthy, also if a check could not run")
  func healthy() async {
    let report = await DoctorReport.run([
      Fixed(finding: .ok("fine")), Fixed(finding: .notChecked("no key", action: "configure one")),
    ])
    #expect(report.isHealthy)
    #expect(report.lines.map(\.finding.status) == ["OK", "NOT_CHECKED"])
  }

  @Test("A check beyond its time limit is a fault, and the checks after it run")
  func timeLimit() async {
    let report = await DoctorReport.run([Stuck(), Fixed(finding: .ok("fine"))])
    #expect(!report.isHealthy)
    #expect(report.lines.map(\.finding.isFault) == [true, false])
  }

  @Test("The text of a fault says what is wrong and what to do")
  func text() {
    #expect(Finding.ok("3 days").text == "ok  3 days")
    #expect(Finding.fault("it ended", action: "renew it").text == "FAULT  it ended; renew it")
    #expect(Finding.ok("3 days").action.isEmpty)
  }
}
