import Testing

/// The examples in the libraries' documentation; the plugin ExtractExamples adds a test for each.
@Suite
struct Examples {}
