// swift-tools-version: 6.1
import PackageDescription

/// The arrows between the targets: what each may import of ours. `tools/check-imports` holds the
/// sources to them, since SwiftPM alone does not.
let strict: [SwiftSetting] = [
  // The hot path crosses six targets. With this, generic and small functions are specialised and inlined
  // across them: a call costs a sixth less (ARCHITECTURE.md, "Measured").
  .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let asyncHTTPClient: Target.Dependency = .product(
  name: "AsyncHTTPClient", package: "async-http-client",
  // It depends on a package that has a module of the same name as one of ours.
  moduleAliases: ["Configuration": "SwiftConfiguration"])
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let coreMetrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let metricsTestKit: Target.Dependency = .product(name: "MetricsTestKit", package: "swift-metrics")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioExtras: Target.Dependency = .product(name: "NIOExtras", package: "swift-nio-extras")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

func systemLibrary(_ name: String, _ pkgConfig: String, _ debianPackage: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([debianPackage])])
}

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func test(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies)
}

let package = Package(
  name: "entitled",
  products: [
    .executable(name: "entitled", targets: ["entitled"]),
    .executable(name: "interop-server", targets: ["interop-server"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // Debian's C libraries, each imported by one target.
    systemLibrary("CNghttp2", "libnghttp2", "libnghttp2-dev"),
    systemLibrary("COpenSSL", "openssl", "libssl-dev"),
    systemLibrary("CSQLite", "sqlite3", "libsqlite3-dev"),
    systemLibrary("CZlib", "zlib", "zlib1g-dev"),
    // What the kernel has and no library.
    .systemLibrary(name: "CLinux"),
    .target(name: "CEntitledProto", linkerSettings: [.linkedLibrary("protobuf-c")]),

    // The domain: pure, no IO, no clock, no C.
    library("JSON", []),
    library("AppStore", ["JSON"]),
    library("Entitlements", ["AppStore"]),
    library("FamilySharing", ["AppStore", "Entitlements"]),

    library("Compression", ["CZlib"]),
    library("Scheduling", ["CLinux"]),

    // Signed data and the memory of it.
    library("SignedData", ["COpenSSL", "AppStore", "JSON"]),
    library("AppReceipt", ["AppStore", "JSON", "SignedData", asn1]),
    library("Store", ["AppStore", "Entitlements", "FamilySharing"]),
    library(
      "SQLiteStore",
      [
        "CSQLite", "AppStore", "Compression", "Entitlements", "FamilySharing", "Scheduling", "SignedData",
        "Store", metrics,
      ]),
    library(
      "Ledger", ["AppStore", "Entitlements", "FamilySharing", "JSON", "SignedData", "Store", metrics]),

    // The wire.
    library("HTTP", []),
    library("Callers", ["AppStore", "HTTP", "JSON", "SignedData"]),
    library("Telemetry", ["JSON", coreMetrics, logging]),
    library("HTTP2", ["CNghttp2", "HTTP"]),
    library("Wire", ["CEntitledProto", "JSON"]),
    library("RPC", ["Compression", "HTTP", "Wire"]),
    library(
      "Transport",
      ["HTTP", "HTTP2", "RPC", "Scheduling", nio, nioExtras, nioHTTP1, nioPosix, nioSSL, logging]),

    // What is served.
    library(
      "Services",
      [
        "AppReceipt", "AppStore", "AppStoreClient", "Callers", "Enquiry", "Entitlements", "FamilySharing",
        "HTTP", "JSON", "Ledger", "Notifications", "RPC", "ReceiptMigration", "SignedData", "Store",
        "Telemetry", "Webhooks", "Wire", metrics,
      ]),
    library("Sandbox", ["AppReceipt", "AppStore", "HTTP", "JSON", "SignedData"]),
    library("SandboxStore", ["AppStore", "SQLiteStore", "Sandbox", "Store"]),
    library("EntitledClient", ["HTTP", "HTTP2", "RPC", "Wire", nio, nioPosix, nioSSL]),
    library(
      "AppStoreClient",
      ["AppStore", "JSON", "SignedData", "Telemetry", asyncHTTPClient, metrics, nio, nioHTTP1]),
    library("Enquiry", ["AppStore", "AppStoreClient", "Ledger", "Store"]),
    library(
      "Notifications",
      [
        "AppStore", "AppStoreClient", "Enquiry", "Entitlements", "FamilySharing", "JSON", "Ledger",
        "SignedData", "Store", metrics,
      ]),
    library(
      "ReceiptMigration",
      [
        "AppReceipt", "AppStore", "AppStoreClient", "Enquiry", "Entitlements", "JSON", "Ledger", "SignedData",
        "Store", metrics,
      ]),
    library(
      "Webhooks",
      [
        "AppStore", "AppStoreClient", "Entitlements", "JSON", "Ledger", "SignedData", "Store", metrics,
      ]),
    library("OCSPClient", ["SignedData", asyncHTTPClient, nio, nioHTTP1]),
    library("Configuration", ["AppStore", "Callers", "Entitlements", "Yams"]),
    .executableTarget(
      name: "entitled",
      dependencies: [
        "AppStore", "AppStoreClient", "Callers", "Configuration", "Enquiry", "EntitledClient", "Entitlements",
        "HTTP", "JSON", "Ledger", "Notifications", "OCSPClient", "RPC", "ReceiptMigration", "SQLiteStore",
        "Sandbox", "SandboxStore", "Scheduling", "Services", "SignedData", "Store", "Telemetry", "Transport",
        "Webhooks", "Wire", argumentParser, asyncHTTPClient, coreMetrics, lifecycle, logging, nio, nioHTTP1,
        nioPosix, unixSignals,
      ],
      swiftSettings: strict),

    // gRPC's interoperability tests, for clients of other languages.
    .executableTarget(
      name: "interop-server",
      dependencies: [
        "HTTP", "RPC", "Transport", "Wire", argumentParser, logging, nio, nioPosix, unixSignals,
      ],
      path: "Sources/InteropServer", swiftSettings: strict),

    // What tools/bench/verify measures with.
    .executableTarget(
      name: "verify-bench", dependencies: ["AppStore", "Sandbox", "SignedData"],
      path: "tools/bench/verify-program", swiftSettings: strict),

    // What tools/bench/evaluate measures with.
    .executableTarget(
      name: "evaluate-bench", dependencies: ["AppStore", "Entitlements"],
      path: "tools/bench/evaluate-program", swiftSettings: strict),

    // What writes the notifications of tools/bench/ingest and tools/crash.
    .executableTarget(
      name: "ingest-bench", dependencies: ["AppStore", "JSON", "SignedData"],
      path: "tools/bench/ingest-program", swiftSettings: strict),

    test("AppReceiptTests", ["AppReceipt", "AppStore", "JSON", "SignedData"]),
    test("JSONTests", ["JSON"]),
    test("AppStoreClientTests", ["AppStore", "AppStoreClient", "JSON", "SignedData"]),
    test("AppStoreTests", ["AppStore", "JSON"]),
    test("EntitlementsTests", ["AppStore", "Entitlements", "JSON"]),
    test("FamilySharingTests", ["AppStore", "Entitlements", "FamilySharing"]),
    test("CallersTests", ["AppStore", "Callers", "HTTP", "JSON", "SignedData"]),
    test("ConfigurationTests", ["AppStore", "Callers", "Configuration", "Entitlements"]),
    test("HTTPTests", ["HTTP"]),
    test(
      "LedgerTests",
      [
        "AppStore", "Entitlements", "FamilySharing", "JSON", "Ledger", "SQLiteStore", "SignedData", "Store",
        metrics, metricsTestKit,
      ]),
    test("ReceiptMigrationTests", ["AppReceipt", "AppStore", "Entitlements", "ReceiptMigration"]),
    test("HTTP2Tests", ["HTTP", "HTTP2"]),
    test(
      "NotificationsTests",
      [
        "AppStore", "AppStoreClient", "Enquiry", "Entitlements", "HTTP", "JSON", "Ledger", "Notifications",
        "SQLiteStore", "Sandbox", "SignedData", "Store",
      ]),
    test("CompressionTests", ["Compression"]),
    test("SchedulingTests", ["Scheduling"]),
    test("RPCTests", ["HTTP", "RPC", "Wire"]),
    test("SignedDataTests", ["AppStore", "JSON", "SignedData"]),
    test(
      "SandboxTests", ["AppReceipt", "AppStore", "Entitlements", "HTTP", "JSON", "Sandbox", "SignedData"]),
    test(
      "SandboxStoreTests",
      ["AppStore", "HTTP", "JSON", "SQLiteStore", "Sandbox", "SandboxStore", "SignedData", "Store"]),
    test(
      "ServicesTests",
      [
        "AppStore", "Callers", "Entitlements", "HTTP", "Ledger", "RPC", "SQLiteStore", "Services", "Store",
        "Wire",
      ]),
    test("StoreTests", ["AppStore", "Entitlements", "FamilySharing", "SQLiteStore", "Store"]),
    test(
      "SQLiteStoreTests",
      ["AppStore", "Compression", "Entitlements", "JSON", "SQLiteStore", "Sandbox", "SignedData", "Store"]),
    test("TelemetryTests", ["JSON", "Telemetry", coreMetrics, logging]),
    test("TransportTests", ["EntitledClient", "HTTP", "RPC", "Transport", "Wire", logging, nio, nioPosix]),
    test(
      "WebhooksTests",
      [
        "AppStore", "AppStoreClient", "Entitlements", "JSON", "SQLiteStore", "SignedData", "Store",
        "Webhooks",
      ]),
    test("WireTests", ["JSON", "Wire"]),
  ]
)
