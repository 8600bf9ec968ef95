internal import ArgumentParser
internal import CommandSupport
internal import EntitledClient
internal import Foundation
internal import JSON
internal import SeatRoster
internal import Wire

/// `entitled seats import`.
struct ImportSeatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Make the seats of purchases equal to a roster.",
    discussion: """
      The roster is CSV with the columns \(Roster.customerColumn) and \(Roster.purchaseColumn). Customers in it get a \
      seat; seats of other customers of these purchases are released. Repeating it changes nothing. Exit status 3 if \
      a row failed; the others are done. Exit status 1 if the file is no roster; nothing is done.
      Example: entitled seats import team.csv --purchase 2000001 --dry-run
      """)

  @OptionGroup var options: ScopedOptions

  @Option(help: "Original transaction id of rows that name none.") var purchase: String?
  @Flag(help: "Print the changes, and make none.") var dryRun = false
  @Flag(help: "Release no seat.") var keepOthers = false
  @Option(help: "Name of the person who changes it, for the timeline.") var actor = ""
  @Option(help: "Reason, for the timeline.") var note = ""

  @Argument(help: "File of the roster, or - for the standard input.") var roster: String

  func run() async throws {
    let file = try Document.bytes(roster == "-" ? "-" : "@\(roster)")
    let bytes = try ReportFile.plain(Array(file), named: roster)
    let parsed: Roster
    do { parsed = try Roster(csv: bytes, purchase: purchase) } catch {
      throw Failure("\(roster): \(error)")
    }
    let (app, environment) = try await options.appAndEnvironment()
    let report = try await options.withConnection { connection in
      let seats = RosterImport(
        connection, app: app, environment: environment, actor: actor, note: note, isDryRun: dryRun,
        keepsOthers: keepOthers)
      let progress = ProgressLine()
      defer { progress.finish() }
      return await seats.run(parsed) { progress.update("importing seats", $0, of: Int64(parsed.rows.count)) }
    }
    print(
      options.client.json
        ? String(decoding: report.json.serialized(pretty: true), as: UTF8.self) : report.text)
    if report.failed > 0 { throw ExitCode(3) }
  }
}
