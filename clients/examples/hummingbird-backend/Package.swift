// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "backend",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(path: "../../swift"),
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.25.0"),
  ],
  targets: [
    .executableTarget(
      name: "backend",
      dependencies: [
        .product(name: "Entitled", package: "swift"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ])
  ]
)
