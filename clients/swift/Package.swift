// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "entitled-client",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [.library(name: "Entitled", targets: ["Entitled"])],
  dependencies: [
    .package(url: "https://github.com/apple/swift-async-algorithms.git", from: "1.0.4"),
    .package(url: "https://github.com/apple/swift-crypto.git", "3.12.3"..<"5.0.0"),
    .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.33.0"),
    .package(url: "https://github.com/grpc/grpc-swift-2.git", from: "2.2.0"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport.git", from: "2.2.0"),
    .package(url: "https://github.com/grpc/grpc-swift-protobuf.git", from: "2.1.0"),
  ],
  targets: [
    .target(
      name: "Entitled",
      dependencies: [
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCNIOTransportHTTP2", package: "grpc-swift-nio-transport"),
        .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ]),
    .executableTarget(name: "scenario", dependencies: ["Entitled"]),
  ]
)
