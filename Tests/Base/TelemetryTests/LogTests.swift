import JSON
import Logging
import Synchronization
import Telemetry
import Testing
import Tracing

@Suite struct LogTests {
  private final class Lines: Sendable {
    let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
  }

  private func logger(_ format: LineLogHandler.Format, _ lines: Lines) -> Logger {
    Logger(label: "entitled.test") { label in
      LineLogHandler(label: label, format: format, level: .info, now: { "2026-01-02T03:04:05.006Z" }) {
        line in
        lines.lines.withLock { $0.append(line) }
      }
    }
  }

  @Test("A JSON log line escapes all characters")
  func json() throws {
    let lines = Lines()
    let logger = logger(.json, lines)
    logger.debug("too little to be written")
    logger.warning("two\nlines", metadata: ["b": ["x", "y"], "a": "\"", "time": "mine", "c": ["d": "e"]])
    #expect(
      lines.all == [
        #"{"time":"2026-01-02T03:04:05.006Z","level":"warning","logger":"entitled.test","message":"two\nlines","#
          + #""a":"\"","b":["x","y"],"c":{"d":"e"}}"# + "\n"
      ])
  }

  @Test("A text log line has no line breaks")
  func text() {
    let lines = Lines()
    logger(.text, lines).info("two\nlines", metadata: ["b": ["x", "y"], "a": "1\r\n2"])
    #expect(
      lines.all == [#"2026-01-02T03:04:05.006Z info entitled.test: two\nlines a="1\r\n2" b=x,y"# + "\n"])
  }

  @Test(
    "A value of a text log line cannot look like another member or like a command of the terminal",
    arguments: [
      ("plain-1.2/ü=", "plain-1.2/ü="), ("", "\"\""), ("sam outcome=OK", #""sam outcome=OK""#),
      (#"a"b\"#, #""a\"b\\""#), ("\u{1b}[31m", #""\u{1b}[31m""#), ("a\u{202e}b", #""a\u{202e}b""#),
      ("a\u{2028}b", #""a\u{2028}b""#), ("a\u{a0}b", #""a\u{a0}b""#),
      ("\0\u{7f}\u{85}", #""\u{0}\u{7f}\u{85}""#),
      ("\t", #""\t""#), ("a\n\u{301}b", #""a\n"# + "\u{301}b\""),
    ])
  func hostileValue(value: String, written: String) {
    let lines = Lines()
    logger(.text, lines).info("call", metadata: ["actor": "\(value)", "z": ["a,b", "c"]])
    #expect(lines.all[0].hasSuffix(#" call actor=\#(written) z="a,b",c"# + "\n"))
  }

  @Test(
    "Tokens, signed documents and receipts are redacted",
    arguments: LineLogHandler.Format.allCases)
  func secrets(format: LineLogHandler.Format) {
    let secrets = [
      "eyJhbGciOiJFUzI1NiIsIng1YyI6WyJNSUlF.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.c2ln",
      "ent_3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      "MIIEMjCCA7agAwIBAgIQaPoPldvpSoEH0lBrjDPv9jAKBggqhkjOPQQDAzB1",
      "MIGTAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIBAQQgAAAAAAAAAAAA",
    ]
    let lines = Lines()
    let logger = logger(format, lines)
    for secret in secrets {
      logger.error("cannot read '\(secret)'", metadata: ["a": "\(secret)", "b": ["Bearer \(secret)"]])
    }
    logger.error("entitled reads eyJ and MII")
    for line in lines.all.dropLast() {
      #expect(line.contains("[withheld]"))
      for secret in secrets { #expect(!line.contains(secret.prefix(16))) }
    }
    #expect(lines.all.last?.contains("entitled reads eyJ and MII") == true)
  }

  @Test("Log lines of a call contain its trace id")
  func trace() {
    let lines = Lines()
    let logger = logger(.text, lines)
    let trace = TraceContext(continuing: nil)
    ServiceContext.$current.withValue(ServiceContext(trace)) { logger.info("hello") }
    #expect(lines.all[0].hasSuffix("hello request_id=\(trace.requestID) trace_id=\(trace.traceID)\n"))
  }

  @Test("A valid traceparent continues the trace with a new request id")
  func traceparent() {
    let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    let trace = TraceContext(continuing: given)
    #expect(trace.traceparent == "00-4bf92f3577b34da6a3ce929d0e0e4736-\(trace.requestID)-01")
    #expect(trace.requestID != "00f067aa0ba902b7" && trace.requestID.utf8.count == 16)
    // A later version may have more behind it.
    let later = TraceContext(continuing: "01\(given.dropFirst(2))-more")
    #expect(later.traceID == trace.traceID)
  }

  @Test("Calls that serve one request have its id and separate spans")
  func sharedRequest() {
    let calls = (0..<2).map { _ in TraceContext(following: nil, request: 7) }
    #expect(calls.allSatisfy { $0.requestID == "0000000000000007" && $0.spanID != $0.requestID })
    #expect(calls[0].spanID != calls[1].spanID)
  }

  @Test(
    "A malformed traceparent starts a new trace",
    arguments: [
      "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
      "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
      "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736\"-x-01",
    ])
  func malformed(traceparent: String) {
    let trace = TraceContext(continuing: traceparent)
    #expect(!traceparent.contains(trace.traceID) && trace.traceID.utf8.count == 32)
  }
}
