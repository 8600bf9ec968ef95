import AppStoreClient
import Conformance
import JSON
import Testing

/// The kit of the program, played against backends that answer from the vectors.
@Suite struct KitTests {
  private func report(_ backend: PerfectBackend, only groups: [String] = []) async throws
    -> ConformanceReport
  {
    try await ConformanceRun(.embedded(), against: backend, only: groups).report()
  }

  @Test("The embedded kit has vectors of every kind of document and lifecycles with a state after every step")
  func contents() throws {
    let kit = try ConformanceKit.embedded()
    #expect(
      kit.groups.map(\.name) == [
        "app-transactions", "notifications", "receipts", "renewal-infos", "transactions",
      ])
    #expect(kit.groups.allSatisfy { $0.vectors.count >= 8 })
    #expect(kit.lifecycles.count >= 20)
    #expect(kit.lifecycles.allSatisfy { $0.steps.allSatisfy { !$0.expected.isEmpty } })
    #expect(kit.runs >= 3)
  }

  @Test("A backend with the correct answers passes every vector")
  func perfect() async throws {
    let report = try await report(try PerfectBackend())
    #expect(report.conforms(strict: true))
    #expect(report.counts.allSatisfy { $0.passed > 0 && $0.failed + $0.warnings + $0.skipped == 0 })
    #expect(report.counts.map(\.group).suffix(2) == ["lifecycles", "lifecycles-in-any-order"])
  }

  @Test("A wrong verdict fails its vector and is named with the expected and the given answer")
  func wrongVerdict() async throws {
    var backend = try PerfectBackend()
    backend.verdicts["transactions/foreign-root"] = .accepted(payload: nil)
    let report = try await report(backend)
    #expect(!report.conforms(strict: false))
    #expect(report.failures == ["transactions/foreign-root"])
    #expect(report.text.contains("FAILED  transactions/foreign-root"))
    #expect(report.text.contains("expected  rejected (UNTRUSTED_ROOT)\n  got       accepted"))
  }

  @Test("A wrong reason and a failed recommended vector are warnings, and failures only if strict")
  func warnings() async throws {
    var backend = try PerfectBackend()
    backend.verdicts["transactions/foreign-root"] = .rejected(reason: "BAD_SIGNATURE")
    backend.verdicts["transactions/duplicate-member"] = .accepted(payload: nil)
    let report = try await report(backend, only: ["transactions"])
    #expect(report.conforms(strict: false) && !report.conforms(strict: true))
    #expect(report.counts.map(\.warnings) == [2])
    #expect(String(decoding: report.junit(strict: true), as: UTF8.self).contains(#"failures="2""#))
    #expect(String(decoding: report.junit(strict: false), as: UTF8.self).contains(#"failures="0""#))
  }

  @Test("A payload without an expected member fails, and a rejection without a reason passes")
  func payloads() async throws {
    var backend = try PerfectBackend()
    backend.verdicts["transactions/valid"] = .accepted(payload: ["productId": "other"])
    backend.verdicts["transactions/foreign-root"] = .rejected(reason: nil)
    let report = try await report(backend, only: ["transactions"])
    #expect(report.failures == ["transactions/valid"])
  }

  @Test("An unsupported kind of document is skipped")
  func unsupported() async throws {
    var backend = try PerfectBackend()
    for vector in try #require(ConformanceKit.embedded().groups.first { $0.name == "receipts" }).vectors {
      backend.verdicts["receipts/\(vector.name)"] = .unsupported
    }
    let report = try await report(backend, only: ["receipts"])
    #expect(report.conforms(strict: true))
    #expect(report.counts.map(\.passed) == [0])
  }

  @Test("A backend that answers from the last delivery fails only in other orders")
  func lastDelivery() async throws {
    var backend = try PerfectBackend()
    backend.answersOfOtherRuns = StateAnswer(isEntitled: false, status: "EXPIRED")
    let report = try await report(backend)
    #expect(report.counts.first { $0.group == "lifecycles" }?.failed == 0)
    #expect(report.failures.contains("lifecycles-in-any-order/refund-reversed (reversed)"))
  }

  @Test("A call without an answer fails its vector; a run that cannot begin ends everything")
  func failures() async throws {
    var backend = try PerfectBackend()
    backend.isSilent = true
    let silent = try await report(backend)
    #expect(silent.counts.allSatisfy { $0.passed == 0 })
    backend.isUnreachable = true
    var failure: BackendFailure?
    do { _ = try await report(backend) } catch { failure = error as? BackendFailure }
    #expect(failure == BackendFailure("connection refused"))
  }

  @Test("An unknown group is an error that names the groups")
  func unknownGroup() throws {
    let kit = try ConformanceKit.embedded()
    let backend = try PerfectBackend()
    var problem = ""
    do { _ = try ConformanceRun(kit, against: backend, only: ["lifecycle"]) } catch { problem = "\(error)" }
    #expect(problem.contains("lifecycles-in-any-order"))
  }

  @Test("A kit of another format, or with a damaged vector, is an error that names the file")
  func damaged() throws {
    #expect(problem(of: ["kit.json": #"{"format": 2, "runs": 1}"#]) == "kit.json: the format is not 1")
    var files = try ConformanceKit.embedded().files
    files["lifecycles/refunded.json"] = #"{"lifecycle": "refunded"}"#
    #expect(problem(of: files) == "lifecycles/refunded.json: 'level' is not a text")
  }

  /// The error of a kit with these files; empty without one.
  private func problem(of files: [String: String]) -> String {
    do { _ = try ConformanceKit(files: files) } catch { return "\(error)" }
    return ""
  }
}

extension ConformanceReport {
  /// The failed vectors of both levels.
  fileprivate var failures: [String] {
    results.compactMap { if case .failed = $0.result { "\($0.group)/\($0.name)" } else { nil } }
  }
}
