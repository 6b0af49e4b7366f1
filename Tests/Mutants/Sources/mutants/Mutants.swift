import ArgumentParser
import Foundation

/// Breaks one decision at a time and says whether the Swift tests notice.
///
/// All mutants are compiled at once into a copy of the last commit, below `.build/mutants`, each behind a switch; the
/// environment says which one is on while the tests run. A run ends at the first test that fails.
@main
struct Mutants: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Breaks one decision at a time and says whether the Swift tests notice.",
        discussion: """
            Each mutant is one change of the sources, in a copy of the last commit. It is caught if a test fails, or if \
            the tests take three times as long as without it. The exit code is 1 if fewer than 95 of 100 are caught.
            """)

    @Option(help: "How many are drawn from all of the engines, beside those that are always tried.")
    var random = 20
    @Option(help: "Replays a draw; printed by each run.")
    var seed = UInt64.random(in: 0..<1_000_000)
    @Option(help: "In place of the drawn ones, all whose name or description contains this.")
    var only = ""
    @Option(help: "Tests that are left out, a regular expression, as the Makefile has it.")
    var outside: String
    @Flag(help: "Show what is changed, and build nothing.")
    var list = false

    /// The part of the mutants that must be caught.
    private static let wanted = 0.95

    func run() throws {
        let project = URL(filePath: FileManager.default.currentDirectoryPath)
        guard list else { return try judge(in: Copy(of: project)) }
        for (description, mutant) in try chosen(from: Sources(of: project).everything()) {
            say("\(mutant.name)  \(description)\n    - \(mutant.before.firstLine)\n    + \(mutant.after.firstLine)")
        }
    }

    /// Compiles the chosen mutants, and runs the tests with one after another.
    private func judge(in copy: Copy) throws {
        let began = ContinuousClock.now
        let sources = try copy.refresh()
        let mutants = try chosen(from: sources.everything())
        let compiled = try copy.build(mutants.map(\.mutant), in: sources)
        say("compiled in \(began.secondsAgo) s")
        let tested = ContinuousClock.now
        if let failure = try copy.test(everyTest, mutant: 0) {
            throw Refusal("the tests fail without any change; mend that first: \(failure)")
        }
        let longest = (ContinuousClock.now - tested) * 3
        say("tested in \(tested.secondsAgo) s")
        var verdicts: [String: Int] = [:]
        for (number, (description, mutant)) in zip(1..., mutants) {
            let began = ContinuousClock.now
            var verdict = "does not compile"
            if compiled.contains(number) {
                // The target's own tests are the likeliest to fail.
                let isMissed = try [["--filter", "\(mutant.target)Tests"], everyTest].allSatisfy {
                    try copy.test($0, mutant: number, longest: longest) == nil
                }
                verdict = isMissed ? "MISSED" : "caught"
            }
            verdicts[verdict, default: 0] += 1
            let column = verdict.padding(toLength: 17, withPad: " ", startingAt: 0)
            say("\(column)\(began.secondsAgo) s  \(mutant.name)  \(description)")
        }
        let caught = verdicts["caught", default: 0]
        let tried = caught + verdicts["MISSED", default: 0]
        say("\(caught) of \(tried) caught, in \((began.secondsAgo + 30) / 60) min")
        if Double(caught) < Self.wanted * Double(tried) { throw ExitCode.failure }
    }

    /// Chooses the tests that `make check` runs, but for those that read sources as text.
    private var everyTest: [String] { ["--skip", "\(outside)|ArchitectureTests"] }

    /// The decisions and as many random mutants as are asked for, or else all that `only` names, with descriptions.
    private func chosen(from everything: [Mutant]) throws -> [(description: String, mutant: Mutant)] {
        let named = Dictionary(uniqueKeysWithValues: everything.map { ($0.name, $0) })
        if let gone = (decisions.map(\.name) + harmless.keys).first(where: { named[$0] == nil }) {
            throw Refusal("there is no \(gone); bring it up to date")
        }
        let decided = decisions.compactMap { decision in named[decision.name].map { (decision.description, $0) } }
        let others = only.isEmpty ? draw(from: everything) : everything
        let known = Set(decisions.map(\.name))
        let mutants = (decided + others.filter { !known.contains($0.name) }.map { ("", $0) })
            .filter { only.isEmpty || "\($0.1.name) \($0.0)".contains(only) }
        say("\(mutants.count) mutants, --seed \(seed)")
        return mutants
    }

    /// Random mutants, each of another declaration.
    private func draw(from everything: [Mutant]) -> [Mutant] {
        var chance = SeededGenerator(seed: seed)
        var declarations: Set<String> = []
        return Array(
            everything.filter(\.isDrawn).shuffled(using: &chance)
                .filter { declarations.insert("\($0.target) \($0.declaration)").inserted }
                .prefix(random))
    }
}

/// Why nothing is tried.
struct Refusal: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Prints a line at once, also into a pipe.
private func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

extension String {
    fileprivate var firstLine: Substring { split(separator: "\n").first ?? "" }
}

extension ContinuousClock.Instant {
    fileprivate var secondsAgo: Int64 { (ContinuousClock.now - self).components.seconds }
}
