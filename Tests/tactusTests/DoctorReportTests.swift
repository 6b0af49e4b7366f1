import Foundation
import GatewayStatus
import Testing

@testable import Doctor
@testable import tactus

@Suite
struct DoctorReportTests {
    private static let findings = [
        Finding.ok(.sequencer, "it is there"),
        .problem(.multicast, of: "eth0", "it is \u{1B}[31mswitched off", fix: "sudo switch it on"),
        .warning(.governor, "powersave", fix: "echo performance"),
    ]

    @Test
    func `a good finding is one line, any other three`() {
        #expect(
            DoctorReport.text(Self.findings) == """
                ok       sequencer       it is there
                problem  multicast eth0  it is  [31mswitched off
                           why           \(Finding.Code.multicast.why)
                           fix           sudo switch it on
                warning  governor        powersave
                           why           \(Finding.Code.governor.why)
                           fix           echo performance

                1 problem, 1 warning
                """)
        #expect(DoctorReport.text([Self.findings[0]]).hasSuffix("\n\nall is well"))
    }

    @Test
    func `the JSON has every key in every finding, and the worst level of all`() throws {
        let data = Data(try DoctorReport.json(Self.findings).utf8)
        let report = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(report["level"] as? String == "problem")
        #expect(report["version"] as? String == Status.version)
        let rows = try #require(report["findings"] as? [[String: Any]])
        #expect(rows.map { $0["code"] as? String } == ["sequencer", "multicast", "governor"])
        #expect(rows.map { $0["level"] as? String } == ["ok", "problem", "warning"])
        for row in rows { #expect(Set(row.keys) == ["code", "subject", "level", "found", "why", "fix"]) }
        #expect(rows[0]["fix"] is NSNull)
        #expect(rows[1]["subject"] as? String == "eth0")
    }

    @Test
    func `the codes that scripts use never change`() {
        #expect(
            Finding.Code.allCases.map(\.rawValue) == [
                "sequencer", "midi-devices", "queue-timer", "realtime", "locked-memory", "audio-group", "preemption",
                "governor", "wake-up", "service", "networks", "multicast", "wifi-power-save", "link-port", "link-peers",
                "token",
            ])
    }
}
