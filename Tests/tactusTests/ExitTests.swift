import ArgumentParser
import Foundation
import Testing

@testable import tactus

/// The program itself, as a shell sees it.
@Suite
struct ExitTests {
    @Test
    func `a result goes to stdout`() throws {
        #expect(try run("--version") == Outcome(stdout: Tactus.configuration.version + "\n", stderr: "", exitCode: 0))
    }

    @Test
    func `wrong input is one line on stderr and 64`() throws {
        let line = "tactus: the value 'nan' is invalid for '<bpm>': a tempo is a number from 20 to 999, such as 128.5\n"
        #expect(try run("tempo", "nan") == Outcome(stdout: "", stderr: line, exitCode: 64))
    }

    @Test
    func `without a gateway the commands say how to start one`() throws {
        for command in [
            ["status"], ["play"], ["stop"], ["tempo", "120"], ["link", "on"], ["start-stop-sync", "off"],
        ] {
            let outcome = try run(command + ["--url", "http://127.0.0.1:1"])
            #expect(
                outcome
                    == Outcome(
                        stdout: "",
                        stderr: """
                            tactus: no gateway answers at http://127.0.0.1:1 (Connection refused); \
                            start one with 'tactus run'

                            """, exitCode: 69))
        }
    }

    private struct Outcome: Equatable {
        var stdout: String
        var stderr: String
        var exitCode: Int32
    }

    private func run(_ arguments: String...) throws -> Outcome { try run(arguments) }

    private func run(_ arguments: [String]) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
            path: "tactus")
        process.arguments = arguments
        let (stdout, stderr) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (stdout, stderr)
        try process.run()
        let (result, complaint) = (
            try stdout.fileHandleForReading.readToEnd(), try stderr.fileHandleForReading.readToEnd()
        )
        process.waitUntilExit()
        return Outcome(
            stdout: String(decoding: result ?? Data(), as: UTF8.self),
            stderr: String(decoding: complaint ?? Data(), as: UTF8.self), exitCode: process.terminationStatus)
    }
}
