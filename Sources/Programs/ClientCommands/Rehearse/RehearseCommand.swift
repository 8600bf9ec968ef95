internal import AppStoreClient
internal import ArgumentParser
internal import CommandSupport
internal import Conformance
internal import Foundation
internal import JSON
internal import SandboxClient

/// `entitled rehearse`.
struct RehearseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rehearse", abstract: "Rehearse changes of Apple's certificates and documents.",
    discussion: """
      The sandbox replaces and revokes its certificates and extends its documents, stage by stage: \
      \(RehearsalStage.allCases.map(\.rawValue).joined(separator: ", ")). After each change the backend gets \
      genuine, forged and revoked documents. The backend is an adapter of the conformance kit at URL, a URL for \
      notifications, or the service at --grpc. It must trust both roots of the sandbox. Exit status 0 if no genuine \
      document was refused, 3 otherwise. Ends at once if the backend is unreachable.
      """)

  @OptionGroup var client: ClientOptions
  @OptionGroup var sandbox: SandboxClient
  @OptionGroup var app: SandboxAppOption

  @Option(help: "URL of the backend for notifications, instead of an adapter.") var notifications: String?
  @Option(help: ArgumentHelp("Stage; repeatable, in this order (default: all).", valueName: "stage"))
  var stage: [String] = []
  @Option(help: "Id of the API key to revoke (default: none, without the stage api-key).") var apiKey: String?
  @Option(help: "Shell command before each stage; ENTITLED_STAGE has its name (default: none).")
  var before: String?
  @Flag(help: "Exit status 3 for accepted forged and revoked documents, too.") var strict = false

  @Argument(help: "URL of the adapter (default: the service at --grpc).") var url: String?

  func run() async throws {
    let stages = try selectedStages()
    for address in [url, notifications].compactMap(\.self)
    where !address.hasPrefix("http://") && !address.hasPrefix("https://") {
      throw Failure("a URL must start with http:// or https://, not '\(address)'", status: 64)
    }
    let store = try await SandboxAppStore(sandbox, app: app.id(in: sandbox))
    let report: RehearsalReport
    if let url {
      guard notifications == nil else {
        throw Failure("the URL of an adapter and --notifications exclude each other", status: 64)
      }
      report = try await rehearse(stages, store, HTTPAdapter(url: url, exchange: CurlExchange.shared))
    } else if let notifications {
      report = try await rehearse(
        stages, store, NotificationReceiver(url: notifications, exchange: CurlExchange.shared))
    } else {
      report = try await client.withConnection {
        try await rehearse(stages, store, RehearsedService($0, app: store.app))
      }
    }
    print(
      client.json
        ? String(decoding: report.json(strict: strict).serialized(pretty: true), as: UTF8.self) : report.text)
    if !report.isPassed(strict: strict) { throw ExitCode(3) }
  }

  /// Runs the stages; before each of them, the operator's command.
  ///
  /// - Throws: ``Failure`` with status 3 for a failure of the backend, 1 for one of the sandbox or the operator's command.
  private func rehearse(
    _ stages: [RehearsalStage], _ store: SandboxAppStore, _ backend: any RehearsedBackend
  ) async throws -> RehearsalReport {
    let progress = ProgressLine()
    defer { progress.finish() }
    do throws(RehearsalFailure) {
      return try await Rehearsal(stages, of: store, against: backend, apiKey: apiKey).report {
        stage throws(RehearsalFailure) in
        progress.update(stage.title)
        if let before { try await ShellCommand.run(before, stage: stage) }
      }
    } catch {
      throw Failure(error.description, status: error.isOfBackend ? 3 : 1)
    }
  }

  /// The stages of `--stage`, in its order; all without one.
  private func selectedStages() throws(Failure) -> [RehearsalStage] {
    let stages = try stage.map { name throws(Failure) in
      guard let stage = RehearsalStage(rawValue: name) else {
        let known = RehearsalStage.allCases.map(\.rawValue).joined(separator: ", ")
        throw Failure("unknown stage '\(name)'; expected one of \(known)", status: 64)
      }
      return stage
    }
    if stages.contains(.apiKey), apiKey == nil {
      throw Failure("the stage api-key needs --api-key, the id of the key to revoke", status: 64)
    }
    return stages.isEmpty ? RehearsalStage.allCases : stages
  }
}

/// The operator's command before a stage.
private enum ShellCommand {
  /// Runs a command of `/bin/sh` and waits for its end. Its output goes to the standard error.
  ///
  /// - Throws: ``RehearsalFailure`` if it cannot start or its exit status is not 0.
  static func run(_ command: String, stage: RehearsalStage) async throws(RehearsalFailure) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.environment = ProcessInfo.processInfo.environment.merging(["ENTITLED_STAGE": stage.rawValue]) {
      $1
    }
    process.standardOutput = FileHandle.standardError
    let ends = AsyncStream<Int32> { continuation in
      process.terminationHandler = {
        continuation.yield($0.terminationStatus)
        continuation.finish()
      }
    }
    do { try process.run() } catch {
      throw RehearsalFailure("cannot run the command before a stage: \(error.localizedDescription)")
    }
    for await status in ends where status != 0 {
      throw RehearsalFailure(
        "the command before the stage \(stage.rawValue) failed with exit status \(status)")
    }
  }
}
