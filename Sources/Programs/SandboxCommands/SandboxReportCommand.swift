internal import AppStoreReports
internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import Foundation
internal import JSON
internal import Sandbox
internal import SandboxClient

/// `entitled sandbox report`.
struct SandboxReportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Print or save a report of App Store Connect.",
    discussion: """
      Example: \(SandboxCommand.words) report subscriber --date 2026-10-24 --output subscriber.txt.gz
      Reports: \(AppStoreReport.allCases.map(\.name).joined(separator: ", ")).
      """)

  @OptionGroup var sandbox: SandboxClient
  @Option(help: "App (default: all apps).") var app: String?
  @Option(help: "Day in Pacific Time, or for finance a fiscal month such as 2026-02.") var date: String
  @Option(help: "File for the compressed report (default: print the text).") var output: String?
  @Flag(help: "JSON output.") var json = false
  @Argument(help: "Report.") var report: String

  func run() async throws {
    guard AppStoreReport.named(report) != nil else {
      let known = AppStoreReport.allCases.map(\.name).joined(separator: ", ")
      throw Failure("unknown report '\(report)'; expected one of \(known)", status: 64)
    }
    var path = "reports/\(report)?date=\(PercentEncoding.encode(date))"
    if let app { path += "&app=\(PercentEncoding.encode(app))" }
    let body = try await sandbox.download(path)
    if let output {
      do { try Data(body).write(to: URL(filePath: output), options: .atomic) } catch {
        throw Failure("cannot write '\(output)': \(error.localizedDescription)")
      }
      if !json { return print("wrote \(output)") }
    }
    let text = try ReportFile.text(of: body, named: report)
    guard json else { return print(text, terminator: "") }
    let table = TabularText(parsing: text)
    let rows = table.rows.map { row in
      JSONValue.object(JSONObject(zip(table.columns, row).map { ($0, .string($1)) }))
    }
    print(String(decoding: JSONValue.array(rows).serialized(pretty: true), as: UTF8.self))
  }
}
