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

    @Test
    func `with --json an error is JSON on stderr, with the same exit code`() throws {
        let refused = try run("status", "--json", "--url", "http://127.0.0.1:1")
        #expect(refused.exitCode == 69 && refused.stdout.isEmpty)
        #expect(
            refused.stderr.hasPrefix(#"{"error":{"code":"unavailable","exitCode":69,"message":"no gateway answers"#))
        let wrong = try run("tempo", "nan", "--json")
        #expect(wrong.exitCode == 64 && wrong.stdout.isEmpty)
        #expect(
            wrong.stderr.hasPrefix(#"{"error":{"code":"usage","exitCode":64,"message":"the value 'nan' is invalid"#))
    }

    @Test
    func `a missing configuration file or profile is told without a line and a column`() throws {
        for arguments in [["run", "--config", "/nonexistent/my.yaml"], ["profiles", "check", "/nonexistent/my.yaml"]] {
            let outcome = try run(arguments)
            #expect(outcome.exitCode == 65)
            #expect(outcome.stderr.contains("/nonexistent/my.yaml: there is no such file\n"))
        }
    }

    @Test
    func `profiles are checked and exported in JSON, too`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tactus-export-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let written = try run("profiles", "export", folder, "--json")
        #expect(written.exitCode == 0)
        #expect(written.stdout.contains(#""unchanged":0,"written":"#))
        let checked = try run("profiles", "check", folder + "/korg-volca.yaml", "/nonexistent/my.yaml", "--json")
        #expect(checked.exitCode == 65)
        let rows = try JSONSerialization.jsonObject(with: Data(checked.stdout.utf8)) as? [[String: Any]] ?? []
        #expect(rows.map { $0["name"] as? String } == ["Korg Volca (beats, sample, keys, bass)", ""])
        #expect(rows.map { ($0["mistakes"] as? [Any])?.count } == [0, 1])
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
