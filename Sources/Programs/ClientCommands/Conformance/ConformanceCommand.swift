internal import AppStoreClient
internal import ArgumentParser
internal import CommandSupport
internal import Conformance
internal import Foundation
internal import JSON

/// `entitled conformance`.
struct ConformanceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conformance", abstract: "Test how a backend verifies and derives.",
    discussion: """
      Plays the vectors of the conformance kit against a backend behind an adapter (conformance/README.md), or, \
      without a URL, against a service that runs with the kit's entitled.yaml. Exit status 0 if no required vector \
      failed, 3 otherwise.
      """)

  @OptionGroup var client: ClientOptions

  @Option(
    help: ArgumentHelp(
      "Group of vectors to play, such as transactions or lifecycles; repeatable (default: all).",
      valueName: "group"))
  var only: [String] = []
  @Flag(help: "Count recommended vectors as failures.") var strict = false
  @Option(help: "File for the results as JUnit XML.") var junit: String?
  @Option(help: "Directory with a kit (default: the kit of this program).") var kit: String?
  @Option(help: "Write the kit into this directory, and play nothing.") var extract: String?

  @Argument(help: "URL of the adapter (default: the service at --grpc).") var url: String?

  func run() async throws {
    let kit = try loadedKit()
    if let extract { return try kit.write(to: extract) }
    let report: ConformanceReport
    if let url {
      guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
        throw Failure("the URL of the adapter must start with http:// or https://, not '\(url)'", status: 64)
      }
      report = try await play(kit, HTTPAdapter(url: url, exchange: CurlExchange.shared))
    } else {
      report = try await client.withConnection { try await play(kit, EntitledBackend($0)) }
    }
    if let junit { try Self.write(Data(report.junit(strict: strict)), to: junit) }
    print(
      client.json
        ? String(decoding: report.json(strict: strict).serialized(pretty: true), as: UTF8.self) : report.text)
    if !report.conforms(strict: strict) { throw ExitCode(3) }
  }

  private func play(_ kit: ConformanceKit, _ backend: any BackendUnderTest) async throws -> ConformanceReport
  {
    let progress = ProgressLine()
    defer { progress.finish() }
    do {
      return try await ConformanceRun(kit, against: backend, only: only).report { progress.update($0) }
    } catch let error as ConformanceKitError {
      throw Failure(error.description, status: 64)
    } catch let error as BackendFailure {
      throw Failure(error.description)
    }
  }

  private func loadedKit() throws -> ConformanceKit {
    do {
      guard let kit else { return try ConformanceKit.embedded() }
      return try ConformanceKit(files: try Self.files(below: kit))
    } catch let error as ConformanceKitError {
      throw Failure(error.description)
    }
  }

  /// The JSON files of a kit by their paths.
  private static func files(below folder: String) throws -> [String: String] {
    var files: [String: String] = [:]
    for path in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? []
    where path.hasSuffix(".json") {
      files[path] = String(decoding: try InputFile.contents("\(folder)/\(path)"), as: UTF8.self)
    }
    return files
  }

  fileprivate static func write(_ content: Data, to path: String) throws {
    do { try content.write(to: URL(fileURLWithPath: path)) } catch {
      throw Failure("cannot write '\(path)': \(error.localizedDescription)")
    }
  }
}

extension ConformanceKit {
  /// Writes the files into a directory, which is created.
  fileprivate func write(to directory: String) throws {
    for (path, content) in files.sorted(by: { $0.key < $1.key }) {
      let file = "\(directory)/\(path)"
      do {
        try FileManager.default.createDirectory(
          atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      } catch {
        throw Failure("cannot create the folder of '\(file)': \(error.localizedDescription)")
      }
      try ConformanceCommand.write(Data(content.utf8), to: file)
    }
    print("\(files.count) files written to \(directory)")
  }
}
