// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "shop",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/apple/swift-asn1.git", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-certificates.git", from: "1.15.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.25.0"),
    .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.3.0"),
  ],
  targets: [
    .executableTarget(
      name: "shop",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "SwiftASN1", package: "swift-asn1"),
        .product(name: "X509", package: "swift-certificates"),
      ])
  ]
)
