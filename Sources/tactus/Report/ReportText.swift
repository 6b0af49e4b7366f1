import ClockMeter
import Essentials
import GatewayStatus

/// A report as Markdown, for an issue.
enum ReportText {
    static func markdown(_ report: Report) -> String {
        var parts = [
            "### Tactus report", "Names, addresses, paths and serial numbers are left out; `…` stands for one.",
            section("Machine", machine(report)), section("USB devices for MIDI or audio", report.usb.flatMap(usb)),
            section("tactus doctor", doctor(report.doctor)),
        ]
        if let gateway = report.gateway {
            parts.append(section("Gateway", self.gateway(gateway)))
            parts += gateway.outputs.map { section(title($0), output($0)) }
        } else {
            parts.append("No gateway ran.")
        }
        if let loop = report.loop { parts.append(section(title(loop), self.loop(loop))) }
        return parts.joined(separator: "\n\n")
    }

    private static func section(_ title: String, _ lines: [String]) -> String {
        "**\(title)**\n\n```text\n\((lines.isEmpty ? ["none"] : lines).joined(separator: "\n"))\n```"
    }

    private static func row(_ name: String, _ text: String) -> String { name.padded(to: 12) + text }

    private static func machine(_ report: Report) -> [String] {
        let machine = report.machine
        let place = machine.isVirtual ? ", virtual machine" : ""
        return [
            row("tactus", report.version),
            row("computer", (machine.model ?? "unknown") + place),
            row("processors", ["\(machine.processors)", machine.processor].compactMap(\.self).joined(separator: ", ")),
            row("system", machine.distribution ?? "unknown"),
            row("kernel", ([machine.kernel, machine.architecture] + machine.kernelOptions).joined(separator: " ")),
        ]
    }

    private static func usb(_ device: USBDevice) -> [String] {
        let name = ["\(device.vendor):\(device.product)", device.name].compactMap(\.self).joined(separator: " ")
        let kinds = device.kinds.joined(separator: " and ")
        let hubs = device.hubs.map { "\($0.vendor):\($0.product)\(speed($0.speed))" }
        let way =
            (hubs.isEmpty ? ["no hub"] : ["hub \(hubs.joined(separator: ", hub "))"])
            + [device.controller].compactMap(\.self)
        return [
            row(device.place, "\(name), \(kinds)\(speed(device.speed))"),
            row("", "behind \(way.joined(separator: ", "))"),
        ]
    }

    private static func speed(_ speed: Double?) -> String { speed.map { ", \(shortest($0, atMost: 1)) Mbit/s" } ?? "" }

    private static func doctor(_ rows: [Report.Row]) -> [String] {
        let width = (rows.map(\.code.count).max() ?? 0) + 2
        return rows.map { row in
            "\(row.level.padded(to: "warning  ".count))\(row.code.padded(to: width))\(row.found)".withoutControls
        }
    }

    private static func gateway(_ gateway: Report.Gateway) -> [String] {
        let link = gateway.link
        var network = ["off"]
        if link.enabled {
            network = [
                "on", link.active ? "peers: \(link.peers)" : "idle",
                "start/stop sync \(link.startStopSync ? "on" : "off")",
            ]
        }
        if let error = link.measurementErrorMicroseconds { network.append("known to \(spokenDuration(error))") }
        let time = gateway.realtime
        let warnings = gateway.warnings.map { $0.code + ($0.output.map { " (output \($0))" } ?? "") }
        return [
            row("version", gateway.version),
            row("mode", "\(gateway.mode.rawValue), \(gateway.transport.rawValue), \(fixed(gateway.tempo, 2)) BPM"),
            row("link", network.joined(separator: ", ")),
            row("follower", gateway.follower.rawValue),
            row(
                "output",
                "scheduling \(time.scheduling) \(time.priority), memory \(time.memoryLocked ? "locked" : "not locked"), "
                    + "dispatch \(time.dispatch)"),
            row("wakes up", late(time.wakeUpMicroseconds)),
            row("warnings", warnings.isEmpty ? "none" : warnings.joined(separator: ", ")),
        ]
    }

    /// Delays since the gateway's start.
    private static func late(_ lateness: Report.Lateness?) -> String {
        guard let lateness else { return "-" }
        return
            "half at most \(spokenDuration(lateness.p50)) late, 99 % at most \(spokenDuration(lateness.p99)), all at "
            + "most \(spokenDuration(lateness.max)), since its start"
    }

    private static func title(_ output: Report.Output) -> String {
        let profile = output.profile.map { $0 == "own" ? "profile of the user's own" : $0 }
        let kind =
            switch output.kind {
            case .line: "raw line"
            case .soundCard: "sound card"
            case .port: profile == nil ? "sequencer port" : String?.none
            case nil: String?.none
            }
        let state = !output.enabled ? "disabled" : output.connected ? "connected" : "not connected"
        let parts = [profile, kind, output.usb.map { "USB \($0)" }, state].compactMap(\.self)
        return "Output \(output.number) (\(parts.joined(separator: ", ")))"
    }

    private static func output(_ output: Report.Output) -> [String] {
        let sent = output.sent
        var lines: [String]
        if let card = output.soundCard {
            // How late pulses leave the card is not known.
            lines = [
                row("sent", "\(sent.ticks) pulses, \(sent.skipped) left out"), row("card", StatusText.soundCard(card)),
            ]
        } else {
            let unit = output.timeCode == nil ? "ticks" : "quarter frames of time code"
            lines = [
                row("sent", "\(sent.ticks) \(unit), \(sent.late) more than 1 ms late, \(sent.skipped) left out"),
                row("lateness", late(output.latenessMicroseconds)),
            ]
        }
        var settings =
            output.offsetMilliseconds == 0 ? [] : ["offset \(shortest(output.offsetMilliseconds, atMost: 2)) ms"]
        if output.multiply != 1 { settings.append("times \(output.multiply)") }
        if output.divide != 1 { settings.append("divided by \(output.divide)") }
        if output.swing != 50 { settings.append("swing \(shortest(output.swing, atMost: 1)) %") }
        if !settings.isEmpty { lines.append(row("settings", settings.joined(separator: ", "))) }
        guard let clock = output.clock else {
            let reason =
                switch output.kind {
                case .line: "a raw line cannot be"
                case .soundCard: "pulses cannot be"
                case .port, nil: output.enabled ? "not connected" : "disabled"
                }
            return lines + [row("measured", "no; \(reason)")]
        }
        return lines + self.clock(clock)
    }

    private static func clock(_ clock: Report.Clock) -> [String] {
        let figures = clock.figures
        guard figures.ticks.received > 0 else { return [row("measured", "no clock came")] }
        return [row("measured", "\(fixed(figures.seconds, 1)) s, stamped by \(clock.stamps.name)")]
            + MonitorText.rows(figures).map { row($0.name, $0.text) }
    }

    private static func title(_ loop: Report.Loop) -> String {
        let profile = loop.profile.map { $0 == "own" ? "profile of the user's own" : $0 }
        let kind =
            switch loop.kind {
            case .port: "sequencer port"
            case .rawDevice: "raw device"
            case .line: "serial line or file"
            case .soundCard: "sound card"
            }
        let parts = [kind, profile, loop.usb.map { "USB \($0)" }].compactMap(\.self)
        return "What came back by the cable (\(parts.joined(separator: ", ")))"
    }

    private static func loop(_ loop: Report.Loop) -> [String] {
        clock(loop.clock) + (loop.sound.map(MonitorText.rows) ?? []).map { row($0.name, $0.text) }
    }
}
