import RPC
import Store
import Testing

@testable import Services

@Suite struct PositionTokensTests {
  private let tokens = PositionTokens(key: Array(repeating: 7, count: 32))

  @Test("A position token returns the position that it was made of")
  func roundTrip() throws {
    for position in [StorePosition(sequence: 0, evidence: 0), StorePosition(sequence: 12, evidence: .max)] {
      #expect(try tokens.position(tokens.token(position, of: "ocean"), of: "ocean") == position)
    }
  }

  @Test("A position token of another app, of another store or with other bytes is rejected")
  func foreign() {
    let token = tokens.token(StorePosition(sequence: 3, evidence: 4), of: "ocean")
    #expect(reason(token, of: "reef", tokens) == "INVALID_POSITION")
    #expect(reason(token, of: "ocean", PositionTokens(key: [8])) == "INVALID_POSITION")
    #expect(
      reason("A" + token.dropFirst(), of: "ocean", tokens) == "INVALID_POSITION" || token.hasPrefix("A"))
    for text in ["", "x", "3.4", String(token.dropLast(2)), token + "AA"] {
      #expect(reason(text, of: "ocean", tokens) == "INVALID_POSITION")
    }
  }

  private func reason(_ token: String, of app: String, _ tokens: PositionTokens) -> String? {
    do throws(Status) {
      _ = try tokens.position(token, of: app)
      return nil
    } catch {
      return error.errorInfo?.reason
    }
  }
}
