internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import JSON
internal import Sandbox

/// A StoreKit configuration file in place of the configured products.
struct StoreKitOptions: ParsableArguments {
  @Option(
    help: "StoreKit configuration file of Xcode with the products (default: those of the configuration).")
  var storekit: String?
  @Option(help: "Bundle id of the app of the StoreKit file.") var bundleId: String?
  @Option(help: "App id for the StoreKit file (default: the last part of the bundle id).") var appId: String?

  /// Reads the file; `nil` without one.
  func read() throws(Failure) -> StoreKitImport? {
    guard let storekit else { return nil }
    guard let bundleId else { throw Failure("--storekit needs --bundle-id", status: 64) }
    return try StoreKitFile.read(storekit, bundleID: bundleId, app: appId)
  }
}

/// Reads StoreKit configuration files.
enum StoreKitFile {
  static func read(_ path: String, bundleID: String, app: String?) throws(Failure) -> StoreKitImport {
    let contents = try InputFile.contents(path)
    do throws(ActionError) {
      return try StoreKitImport(parsing: Array(contents), bundleID: bundleID, app: app)
    } catch {
      throw Failure("cannot import '\(path)': \(error.description)")
    }
  }
}

/// `entitled sandbox storekit`.
struct SandboxStoreKitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "storekit", abstract: "Show what the sandbox imports from a StoreKit file.",
    discussion: """
      Example: \(SandboxCommand.words) storekit Products.storekit --bundle-id com.example.oceanjournal
      """)

  @Option(help: "Bundle id of the app.") var bundleId: String
  @Option(help: "App id (default: the last part of the bundle id).") var appId: String?
  @Flag(help: "JSON output.") var json = false
  @Argument(help: "StoreKit configuration file.") var file: String

  func run() async throws {
    let imported = try StoreKitFile.read(file, bundleID: bundleId, app: appId)
    guard !json else { return print(String(decoding: imported.json.serialized(pretty: true), as: UTF8.self)) }
    for line in imported.summary { print(line) }
    for line in imported.notImported { print("not imported: \(line)") }
  }
}
