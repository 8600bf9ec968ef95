// swift-tools-version: 6.2
import PackageDescription

// The parsers of untrusted bytes, compiled with instrumentation for libFuzzer and AddressSanitizer: a separate package,
// because instrumented code is useful for fuzzing only. Its other targets are symbolic links to the sources.

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
  name: "fuzz",
  dependencies: [
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "CEntitledProto", linkerSettings: [.linkedLibrary("protobuf-c")]),
    library("Bytes", []),
    library("JSON", []),
    library("HTTP", ["Bytes"]),
    library(
      "Platform",
      [
        "CLinux", "CZlib", .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
      ]),
    library("AppStore", ["JSON"]),
    library("Entitlements", ["AppStore"]),
    library("SignedData", ["COpenSSL", "AppStore", "Bytes", "JSON"]),
    library(
      "AppReceipt",
      ["AppStore", "Bytes", "JSON", "SignedData", .product(name: "SwiftASN1", package: "swift-asn1")]),
    library("Callers", ["AppStore", "Bytes", "HTTP", "JSON", "SignedData"]),
    library("CustomerImport", ["AppStore", "JSON"]),
    library(
      "Configuration",
      ["AppStore", "Callers", "CustomerImport", "Entitlements", "JSON", "SignedData", "Yams"]),
    library("HTTP2", ["CNghttp2", "HTTP"]),
    library("Wire", ["Bytes", "CEntitledProto", "JSON"]),
    library("RPC", ["Bytes", "HTTP", "JSON", "Platform", "Wire"]),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "AppReceipt", "AppStore", "Bytes", "Configuration", "HTTP", "HTTP2", "JSON", "RPC",
        "SignedData", "Wire",
      ],
      // libFuzzer defines the main function.
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]),
  ]
)
