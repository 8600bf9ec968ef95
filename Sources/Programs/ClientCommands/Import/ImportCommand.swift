internal import AppStore
internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import CustomerImport

/// `entitled import`: customers of another system.
struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Import customers of another system.",
    subcommands: [
      ImportRevenueCatCommand.self, ImportCSVCommand.self, ImportCompareCommand.self,
      ImportDisagreementsCommand.self,
    ])
}

/// `entitled import revenuecat`.
struct ImportRevenueCatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revenuecat", abstract: "Import RevenueCat's export or API lists.",
    discussion: """
      Reads the scheduled export of transactions (CSV) and lists of the REST API v2 (JSON, or one JSON document on \
      each line), plain or gzip. Aliases are merged into one customer, purchases of the App Store are fetched from \
      Apple and linked, other stores and promotional access become grants with a source, subscriber attributes become \
      attributes. Repeating an import changes nothing. Exit status 3 if something was left out for another reason than \
      its environment, that it grants nothing, or that a later row names another customer.
      """)

  @OptionGroup var options: ImportOptions
  @Argument(help: "Files of the export.") var files: [String]

  func run() async throws {
    var rows = ImportFiles(identity: .named, mapping: try options.mapping(from: .revenueCat))
    for file in files { try rows.read(file, allowsJSON: true) }
    try await options.run(rows, from: "RevenueCat")
  }
}

/// `entitled import csv`.
struct ImportCSVCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "csv", abstract: "Import any table, by a mapping of its columns.",
    discussion: """
      The mapping is a YAML file that names the columns (docs/import.md). The input is CSV with a header, plain or \
      gzip. The rules are those of 'entitled import revenuecat'.
      """)

  @OptionGroup var options: ImportOptions
  @Option(help: "YAML file that names the columns.") var mapping: String
  @Argument(help: "CSV files.") var files: [String]

  func run() async throws {
    let named: ColumnMapping
    do throws(ConfigurationError) { named = try ColumnMapping.load(path: mapping) } catch {
      throw Failure(error.description)
    }
    var rows = ImportFiles(identity: .column, mapping: try options.mapping(from: named))
    for file in files { try rows.read(file, allowsJSON: false) }
    try await options.run(rows, from: "CSV")
  }
}

/// The options of both imports.
struct ImportOptions: ScopedConnectionOptions {
  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  @Flag(help: "Print what would be done, without changes and without calls to Apple.") var dryRun = false
  @Option(help: "THEIRS=OURS, another name of an entitlement; repeatable.") var entitlement: [String] = []
  @Option(help: "THEIRS=OURS, another name of a store; repeatable.") var store: [String] = []
  @Flag(help: "Import no attributes.") var withoutAttributes = false
  @Option(help: "File for what was not taken (default: FILE.not-taken.ndjson).") var notTaken: String?
  @Option(help: "Name of the person who imports, for the timeline.") var actor = ""

  /// The mapping with the names of the options.
  func mapping(from base: ColumnMapping) throws -> ColumnMapping {
    var mapping = base
    mapping.entitlements.merge(try Self.names(entitlement, "--entitlement")) { $1 }
    mapping.stores.merge(try Self.names(store, "--store")) { $1 }
    return mapping
  }

  /// The texts THEIRS=OURS of an option.
  static func names(_ texts: [String], _ option: String) throws -> [String: String] {
    var names: [String: String] = [:]
    for text in texts {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw Failure("\(option) takes THEIRS=OURS, not '\(text)'", status: 64) }
      names[parts[0]] = parts[1]
    }
    return names
  }

  /// Plans and performs the import of `files`, prints the result, and writes what was not taken to a file.
  ///
  /// - Throws: `ExitCode` 3 if something was left out that an import should have taken.
  func run(_ files: ImportFiles, from origin: String) async throws {
    try OutputFile.require(notTakenPath(files), besides: files.paths)
    let (app, environment) = try await appAndEnvironment()
    let target = try await ImportTarget(app, environment, client)
    var plan = files.plan(for: target, includesAttributes: !withoutAttributes)
    if files.choosesCustomerIDs {
      plan.keepCustomers(mergedInto: try await target.mergeTargets(of: plan, client))
    }
    plan.settleOwners()
    plan.adapt(to: try await target.storedGrants(of: plan.sources, client), at: SystemClock.now())
    guard !dryRun else {
      print(client.json ? plan.json(counts: nil).text : plan.preview)
      return try exit(plan.omissions)
    }
    let run = ImportRun(client: client, target: target, actor: actor, origin: origin)
    let counts = try await run.perform(&plan)
    let path = try writeOmissions(plan.omissions, of: files)
    print(client.json ? plan.json(counts: counts).text : plan.report(counts, notTaken: path))
    try exit(plan.omissions)
  }

  private func exit(_ omissions: [ImportOmission]) throws {
    if omissions.contains(where: { !$0.reason.isExpected }) { throw ExitCode(3) }
  }

  private func notTakenPath(_ files: ImportFiles) -> String {
    notTaken ?? "\(files.paths.first ?? "import").not-taken.ndjson"
  }

  /// - Returns: the path of the file; `nil` if everything was taken.
  private func writeOmissions(_ omissions: [ImportOmission], of files: ImportFiles) throws -> String? {
    guard !omissions.isEmpty else { return nil }
    let path = notTakenPath(files)
    let file = try OutputFile(path, besides: files.paths)
    try file.write(omissions.map { $0.json.text + "\n" }.joined())
    try file.close()
    return path
  }
}
