// swift-tools-version: 6.1
import PackageDescription

// The parsers that meet outside bytes, compiled once more with what libFuzzer and AddressSanitizer need: a package
// of its own, since such code is of no other use. Its other targets are links to the sources themselves.

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
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "CEntitledProto", linkerSettings: [.linkedLibrary("protobuf-c")]),
    library("JSON", []),
    library("HTTP", []),
    library("AppStore", ["JSON"]),
    library("Entitlements", ["AppStore"]),
    library("Callers", ["AppStore", "HTTP", "JSON", "SignedData"]),
    library("Configuration", ["AppStore", "Callers", "Entitlements", "Yams"]),
    library("HTTP2", ["CNghttp2", "HTTP"]),
    library("Wire", ["CEntitledProto", "JSON"]),
    library("Compression", ["CZlib"]),
    library("RPC", ["Compression", "HTTP", "Wire"]),
    library("SignedData", ["COpenSSL", "AppStore", "JSON"]),
    library(
      "AppReceipt",
      ["AppStore", "JSON", "SignedData", .product(name: "SwiftASN1", package: "swift-asn1")]),
    library("Sandbox", ["AppReceipt", "AppStore", "HTTP", "JSON", "SignedData"]),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "AppReceipt", "AppStore", "Configuration", "HTTP", "HTTP2", "JSON", "RPC", "Sandbox", "SignedData",
        "Wire",
      ],
      // libFuzzer brings the program's beginning.
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]),
  ]
)
