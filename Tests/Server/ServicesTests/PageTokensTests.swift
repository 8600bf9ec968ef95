import RPC
import Testing
import Wire

@testable import Services

@Suite("Page tokens")
struct PageTokensTests {
  private let tokens = PageTokens(key: Array(repeating: 7, count: 32))
  private let request = ListTimelineRequest.with {
    $0.app = "ocean"
    $0.customerId = "ana"
  }

  private func position(_ request: some PagedRequest) throws(Status) -> String? {
    try tokens.page(request).position
  }

  private func isRejected(_ request: some PagedRequest, by tokens: PageTokens) -> Bool {
    do throws(Status) {
      _ = try tokens.page(request)
      return false
    } catch {
      return error.code == .invalidArgument
    }
  }

  @Test("A token leads to the page after its position, with another page size too")
  func roundTrip() throws {
    var next = request
    next.pageToken = try tokens.page(request).token(after: 17)
    next.pageSize = 3
    #expect(try tokens.page(next).number == 17)
    #expect(try position(request) == nil)
  }

  @Test("A token of another app, customer, filter, method or key is rejected")
  func binding() throws {
    let token = try tokens.page(request).token(after: 17)
    let changes: [(inout ListTimelineRequest) -> Void] = [
      { $0.app = "sea" }, { $0.customerId = "bob" }, { $0.includeNotifications = true },
      { $0.environment = .production },
    ]
    for change in changes {
      var other = request
      change(&other)
      other.pageToken = token
      #expect(isRejected(other, by: tokens))
    }
    var notifications = ListNotificationsRequest.with {
      $0.app = "ocean"
      $0.customerId = "ana"
    }
    notifications.pageToken = token
    #expect(isRejected(notifications, by: tokens))
    var same = request
    same.pageToken = token
    #expect(!isRejected(same, by: tokens))
    #expect(isRejected(same, by: PageTokens(key: Array(repeating: 8, count: 32))))
  }

  @Test("A made-up or altered token is rejected", arguments: ["17", "x", "AAAA", "\u{0}", " ", "=", "ü"])
  func forgery(text: String) throws {
    var next = request
    next.pageToken = text
    #expect(isRejected(next, by: tokens))
    let token = try tokens.page(request).token(after: 17)
    for index in token.indices where token[index] != "A" {
      next.pageToken = token.replacingCharacters(at: index, with: "A")
      #expect(isRejected(next, by: tokens))
    }
  }

  @Test("A position that is no number is rejected where one is needed")
  func number() throws {
    var next = request
    next.pageToken = try tokens.page(request).token(after: "x")
    let page = try tokens.page(next)
    #expect(throws: Status.self) { try page.number }
  }
}

extension String {
  fileprivate func replacingCharacters(at index: Index, with text: String) -> String {
    String(self[..<index]) + text + String(self[self.index(after: index)...])
  }
}
