import ArgumentParser
import ConfigurationFiles
import ControlServer
import Doctor
import Essentials
import Gateway
import GatewayStatus
import Glibc

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check what keeps this machine from a precise clock, and how to fix it.",
        discussion: """
            Checks the sequencer and its timer, real-time permission and how late a thread wakes, the processors' \
            governor, the networks (multicast, Wi-Fi power saving, other Link peers), and the token that your \
            configuration names. It takes about two seconds, needs no root, changes nothing and disturbs no clock. The \
            gateway may be running.

            A problem means that something does not work; a warning means that it works less well. The exit code is 1 \
            if there is a problem, else 0.

            EXAMPLES
              tactus doctor                            everything, in words
              tactus doctor --json | jq '.findings[]'  the same for programs
            """)

    @Flag(help: "Print the findings as JSON.")
    var json = false

    func run() throws {
        let findings = Self.findings()
        print(try json ? DoctorReport.json(findings) : DoctorReport.text(findings))
        if findings.contains(where: { $0.level == .problem }) { Glibc.exit(1) }
    }
}

extension DoctorCommand {
    /// All findings about this machine and the user's configuration, after about two seconds.
    static func findings() -> [Finding] {
        Examination.findings() + tokenFindings(configuration: Folders.configuration)
    }

    /// Findings about the token file that a configuration names; none if it names none, or cannot be read.
    static func tokenFindings(configuration: String?) -> [Finding] {
        guard let configuration, let path = (try? ConfigurationFile(contentsOf: configuration))?.tokenFile
        else { return [] }
        let file = TokenFile(path)
        guard case .success = file.token else { return [] }
        return Finding.token(in: path, file.notices.map { ($0.message, $0.fix) })
    }
}

/// Findings as text and as JSON.
enum DoctorReport {
    /// A line for each finding, and two more if there is something to fix.
    static func text(_ findings: [Finding]) -> String {
        let titles = findings.map { finding in
            finding.subject.map { "\(finding.code.rawValue) \($0)" } ?? finding.code.rawValue
        }
        let width = (titles.map(\.count).max() ?? 0) + 2
        let blocks = zip(titles, findings).map { title, finding in
            let margin = String(repeating: " ", count: "warning  ".count)
            var lines = ["\(finding.level.name.padded(to: margin.count))\(title.padded(to: width))\(finding.found)"]
            if let fix = finding.fix {
                lines += ["\(margin)\("  why".padded(to: width))\(finding.code.why)"]
                lines += ["\(margin)\("  fix".padded(to: width))\(fix)"]
            }
            return lines.map(\.withoutControls).joined(separator: "\n")
        }
        return (blocks + ["", summary(findings)]).joined(separator: "\n")
    }

    private static func summary(_ findings: [Finding]) -> String {
        func count(_ level: Finding.Level) -> Int { findings.filter { $0.level == level }.count }
        func words(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
        let (problems, warnings) = (count(.problem), count(.warning))
        guard problems + warnings > 0 else { return "all is well" }
        return "\(words(problems, "problem")), \(words(warnings, "warning"))"
    }

    static func json(_ findings: [Finding]) throws -> String { try JSON.text(Report(findings)) }

    private struct Report: Encodable {
        var version = Status.version
        /// The worst level of all findings.
        var level: String
        var findings: [Row]

        init(_ findings: [Finding]) {
            level = (findings.map(\.level).max() ?? .ok).name
            self.findings = findings.map(Row.init)
        }
    }

    /// A finding as JSON; keys never vanish.
    private struct Row: Encodable {
        let finding: Finding

        init(_ finding: Finding) { self.finding = finding }

        private enum Key: String, CodingKey { case code, subject, level, found, why, fix }

        func encode(to encoder: any Encoder) throws {
            var row = encoder.container(keyedBy: Key.self)
            try row.encode(finding.code.rawValue, forKey: .code)
            try row.encode(finding.subject, forKey: .subject)
            try row.encode(finding.level.name, forKey: .level)
            try row.encode(finding.found, forKey: .found)
            try row.encode(finding.code.why, forKey: .why)
            try row.encode(finding.fix, forKey: .fix)
        }
    }
}
