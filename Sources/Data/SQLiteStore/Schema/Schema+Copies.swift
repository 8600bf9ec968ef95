extension Schema {
  /// Which lines were bought through which copy of the app. Lines that were kept before there was this table are
  /// in it from their next transaction on; replaying fills it.
  static let copiesVersion = """
    CREATE TABLE copy_line (
      app_transaction_id TEXT NOT NULL,      -- Apple's number for one Apple account and one app
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      original_transaction_id TEXT NOT NULL,
      PRIMARY KEY (app_transaction_id, app, environment, original_transaction_id)
    ) STRICT, WITHOUT ROWID;

    """
}
