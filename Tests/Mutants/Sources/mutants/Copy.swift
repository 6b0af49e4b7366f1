import Foundation
import Glibc

/// A clone of the last commit, in which mutants are compiled and tested.
struct Copy {
    private let project: URL
    private let folder: URL

    init(of project: URL) {
        self.project = project
        folder = project.appending(path: ".build/mutants")
    }

    /// Makes it what the last commit is, and returns its sources.
    func refresh() throws -> Sources {
        if !FileManager.default.fileExists(atPath: folder.appending(path: ".git").path) {
            try succeed(["git", "clone", "-q", project.path, folder.path], in: project)
        }
        try succeed(["git", "fetch", "-q", "origin", "HEAD"], in: folder)
        try succeed(["git", "reset", "-q", "--hard", "FETCH_HEAD"], in: folder)
        return try Sources(of: folder)
    }

    private func succeed(_ words: [String], in folder: URL) throws {
        let (isSuccess, said) = try run(words, in: folder)
        if !isSuccess { throw Refusal("\(words.joined(separator: " ")): \(said)") }
    }

    /// Compiles mutants behind switches, which are numbered from 1 in their order.
    ///
    /// - Returns: the numbers of those that compile.
    /// - Throws: ``Refusal`` if it does not compile for another reason.
    func build(_ mutants: [Mutant], in sources: Sources) throws -> Set<Int> {
        var switches = Dictionary(uniqueKeysWithValues: zip(mutants.map(\.name), 1...))
        while true {
            try sources.write(switches)
            let (isSuccess, said) = try run(["make", "swift-tests"], in: folder)
            if isSuccess { return Set(switches.values) }
            let wrong = said.matches(of: /(?m)^(\/.*\.swift):(\d+):\d+: error:/)
                .flatMap { switchesNear(line: Int($0.2) ?? 0, of: String($0.1)) }
            let fit = switches.filter { !wrong.contains($0.value) }
            guard fit.count < switches.count else { throw Refusal("it does not compile:\n\(said.suffix(3000))") }
            switches = fit
        }
    }

    /// The switches that an error is about: those in its line, or in the next one above that has any.
    private func switchesNear(line: Int, of path: String) -> [Int] {
        let lines = ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(
            separator: "\n", omittingEmptySubsequences: false)
        return lines.prefix(line).reversed().lazy
            .map { $0.matches(of: /(?:mutated|flipped)\((\d+)/).compactMap { Int($0.1) } }
            .first { !$0.isEmpty } ?? []
    }

    /// Runs tests while a mutant is switched on, up to the first that fails.
    ///
    /// - Returns: what was said last if a test failed, or took too long; nil if all passed.
    func test(_ options: [String], mutant: Int, longest: Duration = .seconds(1200)) throws -> String? {
        // A mutant may also take memory without end.
        let words = [
            "sh", "-c", "ulimit -v 16000000; exec \"$@\"", "-", "timeout", "--signal", "KILL",
            "\(longest.components.seconds + 10)", ".build/tests/release/tactusPackageTests.xctest",
            "--testing-library", "swift-testing",
        ]
        let (isSuccess, said) = try run(words + options, in: folder, mutant: mutant, until: " recorded an issue ")
        return isSuccess ? nil : String(said.suffix(1000))
    }

    /// Runs a command, up to its end or until it says given words; then it is ended, with all that it started.
    private func run(
        _ words: [String], in folder: URL, mutant: Int = 0, until last: String? = nil
    ) throws -> (isSuccess: Bool, said: String) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.currentDirectoryURL = folder
        // Git is never to take the project for a copy that is not whole.
        let above = project.appending(path: ".build").path
        let settings = ["TACTUS_MUTANT": "\(mutant)", "GIT_CEILING_DIRECTORIES": above]
        process.environment = ProcessInfo.processInfo.environment.merging(settings) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        var said = ""
        while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
            said += String(decoding: data, as: UTF8.self)
            guard let last else { continue }
            // A mutant may say something without end.
            said = String(said.suffix(data.count + 100_000))
            guard said.suffix(data.count + last.count).contains(last) else { continue }
            // `timeout` leads a group of its own.
            kill(-process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            return (false, said)
        }
        process.waitUntilExit()
        return (process.terminationStatus == 0, said)
    }
}
