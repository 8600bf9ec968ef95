extension Schema {
  /// When Apple was last asked about every purchase of an app.
  static let askingAboutAllVersion = """
    -- Milliseconds since 1970; NULL: never.
    ALTER TABLE delivery_mark ADD COLUMN asked_about_all_at INTEGER;

    """
}
