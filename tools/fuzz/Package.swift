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
  dependencies: [.package(url: "https://github.com/apple/swift-asn1", from: "1.7.4")],
  targets: [
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    library("JSON", []),
    library("HTTP", []),
    library("AppStore", ["JSON"]),
    library("SignedData", ["COpenSSL", "AppStore", "JSON"]),
    library(
      "AppReceipt",
      ["AppStore", "JSON", "SignedData", .product(name: "SwiftASN1", package: "swift-asn1")]),
    library("Sandbox", ["AppReceipt", "AppStore", "HTTP", "JSON", "SignedData"]),
    .executableTarget(
      name: "fuzz", dependencies: ["AppReceipt", "AppStore", "JSON", "Sandbox", "SignedData"],
      // libFuzzer brings the program's beginning.
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]),
  ]
)
