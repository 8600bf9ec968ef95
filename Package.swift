// swift-tools-version: 6.2
import PackageDescription

/// The targets and their dependencies. `tools/check-imports` enforces them for imports,
/// since SwiftPM alone does not.
let strict: [SwiftSetting] = [
  // The hot path crosses six targets. This setting specialises and inlines generic and small functions
  // across them: a call costs a sixth less (ARCHITECTURE.md, "Measured").
  .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// The settings of modules that no call passes. Without optimization they compile in a third of the time, which saves a
/// fifth of a first build (ARCHITECTURE.md, "What a build compiles").
let unoptimized = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let coreMetrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let metricsTestKit: Target.Dependency = .product(name: "MetricsTestKit", package: "swift-metrics")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")

/// The folders of the targets, from the lowest layer to the highest.
enum Layer: String {
  case base = "Base"
  case domain = "Domain"
  case trust = "Trust"
  case data = "Data"
  case apple = "Apple"
  case features = "Features"
  case wire = "Protocol"
  case server = "Server"
  case sandbox = "Sandbox"
  case programs = "Programs"
}

func systemLibrary(_ folder: String, _ pkgConfig: String, _ debianPackage: String) -> Target {
  .systemLibrary(
    name: "C\(folder)", path: "Sources/C/\(folder)", pkgConfig: pkgConfig, providers: [.apt([debianPackage])])
}

func library(
  _ layer: Layer, _ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = strict
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(layer.rawValue)/\(name)", swiftSettings: settings
  )
}

func test(_ layer: Layer, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, path: "Tests/\(layer.rawValue)/\(name)")
}

let package = Package(
  name: "entitled",
  products: [
    // The program with the sandbox, for trials and tests.
    .executable(name: "entitled", targets: ["entitled-with-sandbox"]),
    // The one without it, for production: installed as `entitled`.
    .executable(name: "entitled-service", targets: ["entitled-service"]),
    .executable(name: "entitled-sandbox", targets: ["entitled-sandbox"]),
    .executable(name: "interop-server", targets: ["interop-server"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // Debian's C libraries, each imported by one target.
    systemLibrary("Curl", "libcurl", "libcurl4-openssl-dev"),
    systemLibrary("Nghttp2", "libnghttp2", "libnghttp2-dev"),
    systemLibrary("OpenSSL", "libcrypto", "libssl-dev"),
    systemLibrary("PostgreSQL", "libpq", "libpq-dev"),
    systemLibrary("SQLite3", "sqlite3", "libsqlite3-dev"),
    systemLibrary("TLS", "openssl", "libssl-dev"),
    systemLibrary("Zlib", "zlib", "zlib1g-dev"),
    // Linux system calls without a library.
    .systemLibrary(name: "CLinux", path: "Sources/C/Linux"),
    // The styles and scripts of the pages, embedded by tools/embed-assets.
    .target(name: "CConsoleAssets", path: "Sources/C/ConsoleAssets", exclude: ["assets"]),
    // The vectors of the conformance kit, embedded by tools/conformance/generate.
    .target(name: "CConformanceKit", path: "Sources/C/ConformanceKit", exclude: ["kit.json.gz"]),
    .target(
      name: "CEntitledProto", path: "Sources/C/EntitledProto", linkerSettings: [.linkedLibrary("protobuf-c")]),

    // The domain: pure, without IO, clock or C.
    library(.base, "Bytes", []),
    library(.base, "JSON", []),
    library(.domain, "AppStore", ["JSON"]),
    library(.domain, "Entitlements", ["AppStore"]),
    library(.domain, "FamilySharing", ["AppStore", "Entitlements"]),
    library(.domain, "Reports", ["AppStore", "Entitlements"]),
    library(.domain, "AppStoreReports", ["AppStore"], settings: unoptimized),
    library(.domain, "CustomerImport", ["AppStore", "Bytes", "Entitlements", "JSON"], settings: unoptimized),
    library(
      .domain, "ReportReconciliation", ["AppStore", "AppStoreReports", "Reports"], settings: unoptimized),

    library(.base, "Platform", ["CLinux", "CZlib", logging, metrics]),
    library(.base, "Curl", ["CCurl", "Platform"]),

    // Signed data and its store.
    library(.trust, "SignedData", ["COpenSSL", "AppStore", "Bytes", "JSON", "Platform"]),
    library(.trust, "AppReceipt", ["AppStore", "Bytes", "JSON", "SignedData", asn1]),
    library(
      .data, "Store", ["AppStore", "Bytes", "CustomerImport", "Entitlements", "FamilySharing", "Reports"]),
    library(.data, "SQLite", ["CSQLite3"]),
    library(.data, "PostgreSQL", ["CPostgreSQL", "Platform"]),
    library(
      .data, "SQLStore",
      [
        "AppStore", "Bytes", "CustomerImport", "Entitlements", "FamilySharing", "Platform", "Reports",
        "SignedData", "Store",
        "Telemetry", metrics, tracing,
      ]),
    library(.data, "SQLiteStore", ["Bytes", "Platform", "SQLStore", "SQLite", "Store", logging]),
    library(
      .data, "PostgresStore",
      ["AppStore", "Bytes", "Platform", "PostgreSQL", "SQLStore", "Store", logging, metrics]),
    library(
      .data, "Ledger",
      [
        "AppStore", "Bytes", "CustomerImport", "Entitlements", "FamilySharing", "JSON", "Platform",
        "SignedData", "Store",
        "Telemetry", logging, metrics, tracing,
      ]),

    // The protocols.
    library(.base, "HTTP", ["Bytes"]),
    library(.base, "Markup", ["Bytes"]),
    library(.server, "Callers", ["AppStore", "Bytes", "HTTP", "JSON", "SignedData"]),
    library(.base, "Telemetry", ["Bytes", "JSON", coreMetrics, logging, tracing]),
    library(.wire, "HTTP2", ["CNghttp2", "HTTP"]),
    library(.wire, "Wire", ["Bytes", "CEntitledProto", "JSON"]),
    library(.wire, "RPC", ["Bytes", "HTTP", "JSON", "Platform", "Wire"]),
    library(.wire, "TLS", ["CTLS", nio, nioTLS]),
    library(
      .wire, "Transport",
      ["HTTP", "HTTP2", "Platform", "RPC", "TLS", nio, nioHTTP1, nioPosix, nioTLS, logging]),

    // The services.
    library(.server, "ContractCalls", ["Callers", "RPC", "Wire"]),
    library(
      .server, "Services",
      [
        "AppReceipt", "AppStore", "AppStoreClient", "Bytes", "Callers", "AppleLookup", "ContractCalls",
        "CustomerImport", "DeviceCheck",
        "Entitlements",
        "FamilySharing",
        "HTTP", "JSON", "Ledger", "Notifications", "Platform", "RPC", "ReceiptMigration", "Reconciliation",
        "Reports", "RetentionMessaging", "SideBySide", "SignedData", "Store",
        "Telemetry", "Webhooks", "Wire", logging, metrics, tracing,
      ]),
    library(
      .server, "Pages",
      ["AppStore", "Bytes", "CConsoleAssets", "HTTP", "JSON", "Markup", "Platform", "SignedData"]),
    library(
      .server, "Console",
      [
        "AppStore", "Bytes", "Callers", "ContractCalls", "Entitlements", "HTTP", "JSON", "Markup", "Pages",
        "Platform", "RPC", "Reports", "SignedData", "Wire",
      ], settings: unoptimized),
    library(.sandbox, "SandboxPaths", []),
    library(
      .sandbox, "Sandbox",
      [
        "AppReceipt", "AppStore", "AppStoreReports", "Bytes", "HTTP", "JSON", "Platform", "SandboxPaths",
        "SignedData",
      ], settings: unoptimized),
    library(
      .sandbox, "SandboxConsole",
      ["AppStore", "Bytes", "HTTP", "JSON", "Markup", "Pages", "Sandbox", "SandboxPaths"],
      settings: unoptimized),
    library(.sandbox, "SandboxStore", ["AppStore", "Platform", "SQLite", "Sandbox"]),
    library(
      .programs, "EntitledClient", ["HTTP", "HTTP2", "Platform", "RPC", "TLS", "Wire", nio, nioPosix],
      settings: unoptimized),
    library(
      .apple, "AppStoreClient",
      [
        "AppStore", "Bytes", "Curl", "JSON", "SignedData", "Telemetry", metrics, tracing,
      ]),
    library(
      .apple, "DeviceCheck", ["AppStore", "AppStoreClient", "JSON", "SignedData", "Telemetry", tracing]),
    library(.apple, "AppleLookup", ["AppStore", "AppStoreClient", "Ledger", "SignedData", "Store"]),
    library(
      .features, "Notifications",
      [
        "AppStore", "AppStoreClient", "AppleLookup", "Entitlements", "FamilySharing", "JSON", "Ledger",
        "Platform",
        "SignedData", "Store", logging,
      ]),
    library(
      .features, "Reconciliation",
      [
        "AppStore", "AppStoreClient", "AppleLookup", "Entitlements", "FamilySharing", "JSON", "Ledger",
        "Notifications", "Platform", "Store", logging, metrics,
      ]),
    library(
      .features, "ReceiptMigration",
      [
        "AppReceipt", "AppStore", "AppStoreClient", "AppleLookup", "Bytes", "Entitlements", "JSON", "Ledger",
        "Platform",
        "SignedData",
        "Store", "Telemetry", logging, metrics, tracing,
      ], settings: unoptimized),
    library(
      .features, "Webhooks",
      [
        "AppStore", "AppStoreClient", "Bytes", "Entitlements", "JSON", "Ledger", "Platform", "SignedData",
        "Store", "Telemetry",
        logging, metrics, tracing,
      ]),
    library(
      .features, "Traces",
      ["AppStoreClient", "Bytes", "JSON", "Platform", "SignedData", "Telemetry", logging, metrics, tracing]),
    library(
      .features, "RetentionMessaging",
      ["AppStore", "Entitlements", "JSON", "Ledger", "Platform", "SignedData", "Store", metrics]),
    library(
      .features, "SideBySide",
      [
        "AppStore", "Bytes", "CustomerImport", "Entitlements", "Ledger", "Platform", "SignedData", "Store",
        metrics,
      ]),
    library(
      .features, "Reporting",
      ["AppStore", "Entitlements", "Ledger", "Platform", "Reports", "Store", metrics]),
    library(
      .server, "Configuration",
      [
        "AppStore", "Bytes", "Callers", "CustomerImport", "Entitlements", "JSON", "Platform", "SignedData",
        "Yams",
      ], settings: unoptimized),
    library(
      .programs, "Doctor",
      ["AppStore", "AppStoreClient", "JSON", "Platform", "SignedData", "TLS", nio, nioPosix, nioTLS],
      settings: unoptimized),
    library(
      .programs, "Conformance",
      ["AppStore", "AppStoreClient", "Bytes", "CConformanceKit", "JSON", "Markup", "Platform", "SignedData"],
      settings: unoptimized),
    library(.programs, "SeatRoster", ["Bytes"]),
    library(
      .programs, "CommandSupport",
      ["AppStore", "Bytes", "Platform", "Transport", argumentParser, unixSignals]),
    library(
      .programs, "SandboxClient",
      ["CommandSupport", "EntitledClient", "HTTP", "JSON", "SandboxPaths", "Transport", argumentParser]),
    library(
      .programs, "SandboxCommands",
      [
        "AppStore", "AppStoreReports", "Bytes",
        "CommandSupport", "Configuration", "Curl", "Entitlements", "HTTP", "JSON",
        "Platform", "Sandbox", "SandboxClient", "SandboxConsole", "SandboxPaths", "SandboxStore",
        "Transport", argumentParser, logging, nio, nioPosix,
      ], settings: unoptimized),
    .executableTarget(
      name: "entitled-sandbox", dependencies: ["CommandSupport", "SandboxCommands", argumentParser],
      path: "Sources/Programs/entitled-sandbox", swiftSettings: strict),
    .executableTarget(
      name: "entitled-with-sandbox",
      dependencies: [
        "AppStore", "CommandSupport", "Configuration", "Entitlements", "Ledger", "Platform", "Sandbox",
        "SandboxCommands", "Store", "Transport", "entitled", argumentParser, logging, nio,
      ],
      path: "Sources/Programs/entitled-with-sandbox", swiftSettings: strict),
    .executableTarget(
      name: "entitled-service", dependencies: ["CommandSupport", "entitled", argumentParser],
      path: "Sources/Programs/entitled-service", swiftSettings: strict),
    // The commands that call a running service. It depends on no part of the sandbox but its client.
    library(
      .programs, "ClientCommands",
      [
        "AppStore", "AppStoreClient", "AppStoreReports", "Bytes", "Callers", "CommandSupport",
        "Configuration", "Conformance", "CustomerImport", "EntitledClient", "JSON", "Platform", "RPC",
        "ReportReconciliation", "Reports", "SandboxClient", "SeatRoster", "SignedData", "Transport", "Wire",
        argumentParser,
      ], settings: unoptimized),
    // The composition of both programs, and the commands that use the parts of the service.
    library(
      .programs, "entitled",
      [
        "AppStore", "AppStoreClient", "AppleLookup", "Callers", "ClientCommands", "CommandSupport",
        "Configuration", "Console", "CustomerImport", "DeviceCheck", "Doctor", "EntitledClient",
        "Entitlements", "HTTP", "JSON", "Ledger", "Notifications", "Platform", "PostgreSQL",
        "PostgresStore", "RPC", "ReceiptMigration", "Reconciliation", "Reporting", "Reports",
        "RetentionMessaging", "SQLStore", "SQLiteStore", "Services", "SideBySide", "SignedData", "Store",
        "Telemetry", "Traces", "Transport", "Webhooks", "Wire", argumentParser, coreMetrics, logging, nio,
        nioPosix, tracing, unixSignals,
      ], settings: unoptimized),

    // gRPC's interoperability tests, for clients of other languages.
    .target(
      name: "CInteropProto", path: "tools/interop-server/CInteropProto",
      linkerSettings: [.linkedLibrary("protobuf-c")]),
    .executableTarget(
      name: "interop-server",
      dependencies: [
        "CInteropProto", "HTTP", "RPC", "Transport", "Wire", argumentParser, logging, nio, nioPosix,
        unixSignals,
      ],
      path: "tools/interop-server/Sources", swiftSettings: strict),

    // The measuring program of tools/bench/verify.
    .executableTarget(
      name: "verify-bench", dependencies: ["AppStore", "Sandbox", "SignedData"],
      path: "tools/bench/verify-program", swiftSettings: strict),

    // The measuring program of tools/bench/evaluate.
    .executableTarget(
      name: "evaluate-bench", dependencies: ["AppStore", "Entitlements"],
      path: "tools/bench/evaluate-program", swiftSettings: strict),

    // Writes the notifications of tools/bench/ingest and tools/crash.
    .executableTarget(
      name: "ingest-bench", dependencies: ["AppStore", "JSON", "SignedData"],
      path: "tools/bench/ingest-program", swiftSettings: strict),

    // Fuzzes the parsers of untrusted bytes. libFuzzer's runtime needs LLVM's linker; tools/fuzz/run also instruments
    // the parsers.
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "AppReceipt", "AppStore", "AppStoreReports", "Bytes", "Configuration", "CustomerImport", "HTTP",
        "HTTP2", "JSON", "RPC", "SignedData", "Wire",
      ],
      path: "tools/fuzz/program", swiftSettings: strict + [.unsafeFlags(["-sanitize=fuzzer"])],
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]),

    // Data and helpers that several test targets share.
    .target(
      name: "TestSupport",
      dependencies: [
        "AppStore", "Entitlements", "JSON", "SignedData", "Store", logging, metrics, metricsTestKit,
      ],
      path: "Tests/Support", swiftSettings: strict
    ),
    .target(
      name: "AppStoreSupport",
      dependencies: [
        "AppStore", "AppStoreClient", "AppleLookup", "Entitlements", "HTTP", "Ledger", "SQLiteStore",
        "Sandbox", "SignedData",
      ], path: "Tests/AppStoreSupport", swiftSettings: strict),

    .target(
      name: "PostgresSupport", dependencies: ["PostgreSQL", "TestSupport"], path: "Tests/PostgresSupport",
      swiftSettings: strict),

    test(.base, "BytesTests", ["Bytes"]),
    test(
      .trust, "AppReceiptTests", ["Bytes", "AppReceipt", "AppStore", "JSON", "SignedData", "TestSupport"]),
    test(.base, "JSONTests", ["JSON", "TestSupport"]),
    test(
      .apple, "AppStoreClientTests",
      ["AppStore", "AppStoreClient", "AppStoreSupport", "JSON", "Sandbox", "SignedData", "TestSupport"]),
    test(
      .apple, "DeviceCheckTests",
      ["AppStore", "AppStoreClient", "DeviceCheck", "JSON", "SignedData"]),
    test(
      .apple, "AppleLookupTests",
      [
        "AppStore", "AppStoreClient", "AppStoreSupport", "AppleLookup", "Entitlements", "Ledger", "Sandbox",
        "Store",
      ]),
    test(.domain, "AppStoreTests", ["AppStore", "JSON", "TestSupport"]),
    test(.domain, "EntitlementsTests", ["AppStore", "Entitlements", "JSON", "Reports", "TestSupport"]),
    test(.domain, "FamilySharingTests", ["AppStore", "Entitlements", "FamilySharing", "TestSupport"]),
    test(.domain, "AppStoreReportsTests", ["AppStore", "AppStoreReports"]),
    test(.domain, "CustomerImportTests", ["AppStore", "Bytes", "CustomerImport", "JSON", "TestSupport"]),
    test(
      .domain, "ReportReconciliationTests",
      ["AppStore", "AppStoreReports", "ReportReconciliation", "Reports"]),
    test(.domain, "ReportsTests", ["AppStore", "Entitlements", "Reports", "TestSupport"]),
    test(
      .server, "CallersTests", ["Bytes", "AppStore", "Callers", "HTTP", "JSON", "SignedData", "TestSupport"]),
    test(
      .server, "ConfigurationTests",
      ["AppStore", "Callers", "Configuration", "CustomerImport", "Entitlements"]),
    test(
      .programs, "EntitledClientTests", ["EntitledClient", "HTTP", "HTTP2", "RPC", "Wire", nio, nioPosix]),
    test(
      .programs, "DoctorTests", ["AppStore", "AppStoreClient", "Doctor", "SignedData"]),
    test(.programs, "SeatRosterTests", ["SeatRoster"]),
    test(
      .programs, "CompositionTests",
      ["AppStore", "AppStoreClient", "Callers", "HTTP", "JSON", "SignedData", "entitled", logging]),
    test(.programs, "ConformanceTests", ["AppStore", "AppStoreClient", "Conformance", "JSON", "SignedData"]),
    test(.base, "HTTPTests", ["HTTP"]),
    test(.base, "MarkupTests", ["Markup"]),
    test(.server, "PagesTests", ["AppStore", "HTTP", "Markup", "Pages", "Platform"]),
    test(
      .server, "ConsoleTests",
      [
        "AppStore", "Callers", "Console", "HTTP", "JSON", "Markup", "Pages", "RPC", "Services", "SignedData",
        "Wire",
      ]),
    test(
      .data, "LedgerTests",
      [
        "AppStore", "Bytes", "CustomerImport", "Entitlements", "FamilySharing", "JSON", "Ledger",
        "PostgresStore", "PostgresSupport", "Reporting", "Reports",
        "SQLStore", "SQLite", "SQLiteStore", "SignedData", "Store", metricsTestKit, "TestSupport",
      ]),
    test(
      .features, "ReceiptMigrationTests",
      [
        "AppReceipt", "AppStore", "AppStoreClient", "AppStoreSupport", "AppleLookup", "Bytes", "Entitlements",
        "JSON", "Ledger", "Platform", "ReceiptMigration", "SQLiteStore", "Sandbox", "SignedData", "Store",
        "TestSupport",
      ]),
    test(.wire, "HTTP2Tests", ["HTTP", "HTTP2"]),
    test(.features, "NotificationsTests", ["AppStore", "JSON", "Notifications"]),
    test(
      .features, "ReconciliationTests",
      [
        "AppStore", "AppStoreClient", "AppStoreSupport", "AppleLookup", "Entitlements", "JSON", "Ledger",
        "Notifications", "Platform", "Reconciliation", "SQLiteStore", "Sandbox", "SignedData", "Store",
        "TestSupport", logging, metricsTestKit,
      ]),
    test(.base, "PlatformTests", ["Platform", logging]),
    test(.wire, "RPCTests", ["Bytes", "HTTP", "JSON", "Platform", "RPC", "Wire"]),
    test(.trust, "SignedDataTests", ["Bytes", "AppStore", "JSON", "SignedData", "TestSupport"]),
    test(
      .sandbox, "SandboxTests",
      [
        "AppReceipt", "AppStore", "AppStoreReports", "Bytes", "Entitlements", "FamilySharing", "HTTP", "JSON",
        "Platform", "Reports", "Sandbox", "SandboxPaths", "SignedData", "TestSupport",
      ]),
    test(
      .sandbox, "SandboxConsoleTests",
      [
        "AppStore", "HTTP", "JSON", "Markup", "Pages", "Sandbox", "SandboxConsole", "SandboxPaths",
        "TestSupport",
      ]),
    test(
      .sandbox, "SandboxStoreTests",
      ["AppStore", "HTTP", "JSON", "SQLite", "Sandbox", "SandboxStore", "SignedData"]),
    test(
      .server, "ServicesTests",
      [
        "AppStore", "AppStoreClient", "AppleLookup", "Callers", "DeviceCheck", "Entitlements", "HTTP",
        "JSON", "Ledger", "Notifications", "Platform", "PostgreSQL", "PostgresStore", "PostgresSupport",
        "RPC",
        "ReceiptMigration", "Reconciliation", "Reports", "SQLiteStore", "Services", "SignedData", "Store",
        "Telemetry", "TestSupport", "Webhooks", "Wire",
      ]),
    test(.data, "SQLiteTests", ["SQLite"]),
    test(.data, "PostgreSQLTests", ["PostgreSQL", "PostgresSupport"]),
    test(
      .data, "PostgresStoreTests",
      [
        "AppStore", "Entitlements", "PostgreSQL", "PostgresStore", "PostgresSupport", "SQLStore",
        "SQLiteStore",
        "Store", "TestSupport",
      ]),
    test(
      .data, "StoreTests",
      [
        "AppStore", "CustomerImport", "Entitlements", "FamilySharing", "PostgresStore", "PostgresSupport",
        "Reports", "SQLStore",
        "SQLiteStore",
        "Store", "TestSupport",
      ]),
    test(
      .data, "SQLiteStoreTests",
      [
        "AppStore", "Bytes", "Platform", "Entitlements", "JSON", "SQLStore", "SQLite", "SQLiteStore",
        "Sandbox", "SignedData",
        "Store", "TestSupport",
      ]),
    test(.base, "TelemetryTests", ["JSON", "Telemetry", coreMetrics, logging, tracing]),
    test(.wire, "TLSTests", ["AppStore", "CTLS", "Sandbox", "TLS"]),
    test(
      .wire, "TransportTests",
      [
        "EntitledClient", "HTTP", "Platform", "RPC", "Transport", "Wire", logging, nio, nioEmbedded, nioPosix,
      ]),
    test(
      .features, "WebhooksTests",
      [
        "AppStore", "AppStoreClient", "Entitlements", "JSON", "Platform", "SQLiteStore", "SignedData",
        "Store",
        "Webhooks", logging, metricsTestKit, "TestSupport",
      ]),
    test(
      .features, "TracesTests",
      ["AppStoreClient", "JSON", "Platform", "Telemetry", "Traces", logging, tracing]),
    test(.wire, "WireTests", ["JSON", "TestSupport", "Wire"]),
  ]
)
