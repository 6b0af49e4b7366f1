import Foundation

/// The Swift files of the targets that have engines, as they are without mutants.
struct Sources {
    private let root: URL
    private let files: [(target: String, path: String, text: String)]
    private static let support = "Mutated.swift"

    /// Reads them from the folder of `Package.swift`.
    init(of project: URL) throws {
        let root = project.appending(path: "Sources")
        self.root = root
        let targets = Set(engines.map { $0.prefix { $0 != "/" } }).map(String.init).sorted()
        files = try targets.flatMap { target in
            try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: target).path).sorted()
                .filter { $0.hasSuffix(".swift") && $0 != Self.support }
                .map { path in
                    let text = try String(contentsOf: root.appending(path: "\(target)/\(path)"), encoding: .utf8)
                    return (target, "\(target)/\(path)", text)
                }
        }
    }

    /// All that can be broken.
    func everything() -> [Mutant] { broken(by: [:]).mutants }

    /// Puts mutants behind switches, whose numbers are given by name; touches no file that stays as it is.
    func write(_ switches: [String: Int]) throws {
        for (path, text) in broken(by: switches).texts {
            let url = root.appending(path: path)
            guard (try? String(contentsOf: url, encoding: .utf8)) != text else { continue }
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
    }

    /// Every mutant, and the texts of all files by their paths.
    private func broken(by switches: [String: Int]) -> (mutants: [Mutant], texts: [String: String]) {
        var breakers: [String: Breaker] = [:]
        var texts: [String: String] = [:]
        for file in files {
            let breaker = breakers[file.target] ?? Breaker(target: file.target, switches: switches)
            breakers[file.target] = breaker
            texts[file.path] = breaker.broken(file.text, file: file.path)
            texts["\(file.target)/\(Self.support)"] = Breaker.support
        }
        return (breakers.sorted { $0.key < $1.key }.flatMap(\.value.found), texts)
    }
}
