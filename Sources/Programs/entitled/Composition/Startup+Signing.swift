internal import AppStore
internal import Configuration
internal import Entitlements
internal import Services
internal import SignedData

extension Startup {
  /// Reads the keys that the configuration names.
  static func signing(_ configuration: ServiceConfiguration) throws -> SigningSetup {
    do throws(PrivateKeyFileError) {
      var setup = SigningSetup()
      for app in configuration.apps {
        guard let key = app.key else { continue }
        setup.offers[app.definition.id] = OfferSetup(
          signer: OfferSigner(
            credentials: AppStoreCredentials(
              issuerID: key.issuerID, bundleID: app.definition.identity.bundleID,
              signer: try signer(with: key))),
          checksEligibility: app.checksOfferEligibility)
      }
      setup.tokens = try configuration.tokens.map { tokens throws(PrivateKeyFileError) in
        TokenSetup(
          keys: try TokenKeys(directory: tokens.keyDirectory), issuer: tokens.issuer,
          lifetimeMilliseconds: tokens.lifetimeSeconds * 1000)
      }
      return setup
    } catch {
      throw Failure(error.description)
    }
  }

  static func signer(with key: InAppPurchaseKey) throws(PrivateKeyFileError) -> JWTSigner {
    let privateKey = try PrivateKeyFile.read(key.path)
    do { return try JWTSigner(key: privateKey, keyID: key.keyID) } catch {
      throw .notAKey(path: key.path, reason: error.description)
    }
  }
}
