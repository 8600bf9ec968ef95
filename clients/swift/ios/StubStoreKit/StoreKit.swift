// swift-format-ignore-file
// A stub: the declarations of Apple's StoreKit that DeviceEntitlements.swift and docs/app.md use, so that both are
// type-checked where StoreKit does not exist. It does nothing and is not part of any app.
public import Foundation

public enum VerificationResult<SignedType: Sendable>: Sendable {
  case unverified(SignedType, any Error)
  case verified(SignedType)

  public var jwsRepresentation: String { "" }
  public var unsafePayloadValue: SignedType {
    switch self {
    case .unverified(let value, _), .verified(let value): value
    }
  }
}

public struct Product: Sendable {
  public struct PurchaseOption: Hashable, Sendable {
    public static func appAccountToken(_ token: UUID) -> PurchaseOption { PurchaseOption() }
    public static func promotionalOffer(_ offerID: String, compactJWS: String) -> [PurchaseOption] { [] }
  }

  public enum PurchaseResult: Sendable {
    case success(VerificationResult<Transaction>)
    case userCancelled
    case pending
  }

  public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult { .pending }
}

/// UIKit's.
public final class UIWindowScene: Sendable {}

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

  public enum RefundRequestStatus: Sendable {
    case userCancelled
    case success
  }

  public static var currentEntitlements: Transactions { Transactions() }
  public static var updates: Transactions { Transactions() }
  public static func beginRefundRequest(for id: UInt64, in scene: UIWindowScene) async throws -> RefundRequestStatus {
    .userCancelled
  }
  public func finish() async {}
}

public enum AppStore {
  public static var deviceVerificationID: UUID? { nil }
}
