// swift-format-ignore-file
// A stub: the declarations of Apple's StoreKit that DeviceEntitlements.swift uses, so that it is type-checked where
// StoreKit does not exist. It does nothing and is not part of any app.
public import Foundation

public enum VerificationResult<SignedType: Sendable>: Sendable {
  case unverified(SignedType, any Error)
  case verified(SignedType)

  public var jwsRepresentation: String { "" }
}

public struct AppTransaction: Sendable {
  public static var shared: VerificationResult<AppTransaction> {
    get async throws { .verified(AppTransaction()) }
  }
}

public struct Transaction: Sendable {
  public struct Transactions: AsyncSequence, Sendable {
    public typealias Element = VerificationResult<Transaction>
    public struct AsyncIterator: AsyncIteratorProtocol {
      public mutating func next() async -> Element? { nil }
    }
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
  }

  public static var currentEntitlements: Transactions { Transactions() }
}

public enum AppStore {
  public static var deviceVerificationID: UUID? { nil }
}
