import Foundation
import Testing

/// Checks on the sources that the documentation of each public type has an example; `ExampleTests` runs them all.
@Suite
struct ExampleCoverageTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized

    /// The targets of the library products, as `Package.swift` lists them.
    private static func productTargets() throws -> [String] {
        let manifest = try String(contentsOf: package.appending(path: "Package.swift"), encoding: .utf8)
        let products = manifest.matches(of: /\.library\(name: "\w+", targets: \[([^\]]*)\]/)
        let names = products.flatMap { $0.1.matches(of: /"(\w+)"/).map { String($0.1) } }
        return Set(names).sorted()
    }

    private static var declaration: Regex<Substring> {
        /^ *(?:@\w+ )*public (?:\w+ )*(?:struct|enum|class|actor|protocol) \w/
    }

    @Test
    func `every public type of the libraries has an example`() throws {
        let targets = try Self.productTargets()
        #expect(targets == ["BeatTime", "LinkNetwork", "LinkSession", "MIDIClock", "RealTime"])
        var types = 0
        for target in targets {
            let folder = Self.package.appending(path: "Sources/\(target)")
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path())
            for name in names.sorted() where name.hasSuffix(".swift") {
                let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                for (number, line) in lines.enumerated() where line.contains("public ") {
                    guard line.contains(Self.declaration) else { continue }
                    types += 1
                    let comment = lines[..<number].reversed()
                        .drop { $0.contains(/^ *@/) }
                        .prefix { $0.contains(/^ *\/\/\//) }
                    let hasExample = comment.contains { $0.hasSuffix("/// ```swift") }
                    #expect(hasExample, "\(target)/\(name):\(number + 1) has no example")
                }
            }
        }
        #expect(types > 40)
    }
}
