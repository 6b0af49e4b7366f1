import ArgumentParser
import BeatTime
import ClockMeter
import Essentials
import Foundation
import GatewayStatus
import MIDIClock
import Simulation
import Testing

@testable import Doctor
@testable import tactus

@Suite
struct ReportTests {
    /// Ten seconds of a steady clock at 120 BPM.
    private static let figures: ClockFigures = {
        var meter = ClockMeter(start: HostTime(microseconds: 0))
        for number in Int64(0)..<480 {
            meter.received(.timingClock, at: HostTime(microseconds: 1_000 + number * 20_833 + number % 2 * 100))
        }
        meter.timePassed(to: HostTime(microseconds: 10_000_000))
        return meter.figures()
    }()

    private static let machine = MachineDescription(
        model: "Raspberry Pi 4 Model B", processor: "Cortex-A72", processors: 4, architecture: "arm64",
        kernel: "6.1.0-56-rt-arm64", kernelOptions: ["SMP", "PREEMPT_RT"],
        distribution: "Debian GNU/Linux 12 (bookworm)")
    private static let device = USBDevice(
        place: "1-1.2", vendor: "0582", product: "0258", name: "TR-8S", speed: 480, kinds: ["audio", "midi"],
        hubs: [.init(vendor: "2109", product: "3431", speed: 480)], controller: "xHCI Host Controller")

    private static func sources(_ status: Status = .example) -> ReportSources {
        let name = "eth0"
        var after = status
        after.outputs[0].ticks += 480
        after.outputs[0].lateTicks += 2
        return ReportSources(
            version: "0.2.0 (abc)", machine: machine, devices: [device],
            findings: [.ok(.preemption, "real-time"), .warning(.multicast, of: "eth0", "x \(name)", fix: "y")],
            gateway: .init(
                before: status, after: after, ports: [status.outputs[0].id: .init(figures: figures, usb: "1-1.2")]),
            knownProfiles: ["roland-tr-8s"])
    }

    @Test
    func `the report is Markdown that an issue shows as it is`() {
        var sources = Self.sources()
        sources.loop = .init(kind: .port, stamps: .kernel, figures: Self.figures, profile: "roland-tr-8s", usb: "1-1.2")
        let text = ReportText.markdown(Report(sources))
        #expect(
            text.hasPrefix(
                """
                ### Tactus report

                Names, addresses, paths and serial numbers are left out; `…` stands for one.

                **Machine**

                ```text
                tactus      0.2.0 (abc)
                computer    Raspberry Pi 4 Model B
                processors  4, Cortex-A72
                system      Debian GNU/Linux 12 (bookworm)
                kernel      6.1.0-56-rt-arm64 arm64 SMP PREEMPT_RT
                ```

                **USB devices for MIDI or audio**

                ```text
                1-1.2       0582:0258 TR-8S, audio and midi, 480 Mbit/s
                            behind hub 2109:3431, 480 Mbit/s, xHCI Host Controller
                ```

                **tactus doctor**

                ```text
                ok       preemption  real-time
                warning  multicast   x …
                ```

                **Gateway**
                """))
        #expect(text.contains("**Output 1 (sequencer port, USB 1-1.2, connected)**"))
        #expect(text.contains("\nsent        480 ticks, 2 more than 1 ms late, 0 left out\n"))
        #expect(text.contains("\nmeasured    10.0 s, stamped by the kernel\ntempo       120.0"))
        #expect(text.contains("\nmeasured    no; not connected\n"))
        #expect(text.contains("**What came back by the cable (sequencer port, roland-tr-8s, USB 1-1.2)**"))
        #expect(text.components(separatedBy: "```").count % 2 == 1, "each fence is closed")
        #expect(text.utf8.count < 6_000)
    }

    @Test
    func `an output on a sound card has the card's figures instead of a clock's`() {
        var sources = Self.sources()
        sources.gateway?.ports = [:]
        sources.gateway?.after.outputs[0].port = "hw:CARD=Canary"
        sources.gateway?.after.outputs[0].soundCard = .init(
            sampleRate: 48_000, ownClock: true, partsPerMillion: -12.34, errorPartsPerMillion: 0.1, underruns: 2)
        let text = ReportText.markdown(Report(sources))
        #expect(text.contains("**Output 1 (sound card, connected)**"))
        #expect(
            text.contains(
                "\nsent        480 pulses, 0 left out\ncard        48000 Hz, -12.3 ppm, fell silent 2 times\n"
                    + "measured    no; pulses cannot be\n"))
        #expect(!text.contains("Canary"))
    }

    @Test
    func `as JSON it has the figures without the long lists`() throws {
        let text = try JSON.text(Report(Self.sources()))
        #expect(text.utf8.count < 6_000)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(Set(report.keys) == ["version", "machine", "usb", "doctor", "gateway"])
        let gateway = try #require(report["gateway"] as? [String: Any])
        let outputs = try #require(gateway["outputs"] as? [[String: Any]])
        let clock = try #require(outputs[0]["clock"] as? [String: Any])
        #expect((clock["ticks"] as? [String: Any])?["received"] as? Int == 480)
        let errors = try #require(clock["errors"] as? [String: Any])
        #expect((errors["ticks"] as? [Int])?.reduce(0, +) == Self.figures.ticks.measured)
        #expect(clock["trace"] == nil)
        #expect((outputs[0]["sent"] as? [String: Int]) == ["ticks": 480, "late": 2, "skipped": 0])
    }

    @Test
    func `without a gateway the rest is reported, and one that was started anew is counted from 0`() throws {
        var sources = Self.sources()
        sources.gateway?.before.pid = 4711
        let restarted = try #require(Report(sources).gateway?.outputs.first)
        #expect(restarted.sent.ticks == Status.example.outputs[0].ticks + 480)
        sources.gateway = nil
        let text = ReportText.markdown(Report(sources))
        #expect(text.hasSuffix("\n\nNo gateway ran.") && text.contains("ok       preemption"))
    }

    @Test
    func `words of the user and the computer are left out of what devices say, whole and in any case`() {
        let words = PrivateWords(["alice", "Drum-Box", "Alice Liddell,,,", "x"])
        #expect(words.left(outOf: "ALICE's Synth on drum_box, x") == "…'s Synth on …_…, x")
        #expect(words.left(outOf: "Malice 6.1.0-liddell") == "Malice 6.1.0-…")
        #expect(words.left(outOf: "a```\u{1B}[2J") == "a''' [2J")
        #expect(words.left(outOf: String(repeating: "y", count: 500)).count == 80)
    }

    // What names somebody or some place, wherever it can come from.
    private static let canaries = [
        "canaryhost", "canaryuser", "Canary Person", "/home/canaryuser", "/etc/canary.service", "10.97.98.99",
        "enx00c0ffeecafe", "canary-peer", "c0ffeec0ffee0001", "canary-output", "SNCANARY77", "canary-session",
        "canary-profile", "Canary Synth", "canary-program", "canary-leader", "feedbeef",
    ]

    /// Everything that the doctor can say, with canaries for all names.
    private static var findings: [Finding] {
        var networks: [NetworkFacts] = []
        let program = NetworkFacts.Program(name: "canary-program", process: 4711)
        let peer = NetworkFacts.Peer(
            session: "canary-session", beatsPerMinute: 120, interfaces: ["enx00c0ffeecafe", "canaryhost0"],
            address: "10.97.98.99:20808", answers: false)
        for port in [NetworkFacts.Port.free([program]), .taken([program]), .failing("bind 10.97.98.99: canaryhost")] {
            for hears in [true, false, nil] {
                for savesPower in [true, false, nil] {
                    let card = NetworkFacts.Interface(
                        name: "enx00c0ffeecafe", isWireless: true, savesPower: savesPower, networks: ["10.97.98.99/24"],
                        hearsItself: hears, trouble: "sendto 10.97.98.99: canaryhost")
                    var other = card
                    (other.name, other.isMulticast) = ("canaryhost0", hears == true)
                    let lo = NetworkFacts.Interface(
                        name: "canaryhost-lo", isLoopback: true, networks: ["10.97.98.99/8"])
                    networks.append(NetworkFacts(interfaces: [lo, card, other], port: port, peers: [peer]))
                    networks.append(
                        NetworkFacts(interfaces: [lo, card], port: port, peers: [peer], crowd: "10.97.98.99"))
                    networks.append(NetworkFacts(interfaces: [card], port: port))
                }
            }
        }
        let users = [nil, "canaryuser"].flatMap { caller in
            [true, false].map { isIn in
                PermissionFacts.User(
                    name: "canaryuser", isRoot: caller != nil, caller: caller, isInAudio: isIn,
                    isListedInAudio: true)
            }
        }
        let permissions = users.flatMap { user in
            [.byLimits, .byRealTimeKit(priority: 20), .refused("canaryhost says no to canaryuser")].map {
                PermissionFacts(
                    realTime: $0, isMemoryLockGranted: false, user: user,
                    grants: [LimitGrant(domain: "canaryuser", item: "rtprio", value: 95)])
            }
        }
        let services = [
            ServiceFacts(hasSystemd: true, userUnit: "/home/canaryuser/tactus.service"),
            ServiceFacts(hasSystemd: true, systemUnit: .init(path: "/etc/canary.service", texts: ["LimitRTPRIO=95"])),
            ServiceFacts(hasSystemd: true, systemUnit: .init(path: "/etc/canary.service", texts: [])),
        ]
        let sequencers = [Set<Int>(), [1]].map {
            SequencerFacts(devices: [.init(card: 1, name: "Canary Synth")], cardsWithPorts: $0)
        }
        return networks.flatMap(\.findings) + permissions.flatMap { $0.findings(opensSequencer: true) }
            + services.map(\.finding) + sequencers.flatMap(\.findings)
            + Finding.token(in: "/home/canaryuser/token", [])
            + Finding.token(in: "/home/canaryuser/token", [("/home/canaryuser/token is short", "write it anew")])
    }

    private static var status: Status {
        var status = Status.example
        status.reason = "canary-leader leads"
        status.undo = "canary-leader"
        status.link.sessionId = "c0ffeec0ffee0001"
        status.link.interfaces = ["10.97.98.99", "canaryhost"]
        status.link.lastChange = .init(
            number: 1, what: .joined, session: "c0ffeec0ffee0001", origin: .peer, address: "10.97.98.99",
            node: "c0ffeec0ffee0001", at: "canary-peer")
        status.follower = .init(
            state: .locked, choice: "canary-leader", source: "canary-leader", tempo: 120, seen: "canary-leader",
            refused: [.init(port: "28:0", name: "canary-leader", reason: "canary-leader", ticks: 1, transport: 1)])
        for index in status.outputs.indices {
            status.outputs[index].id = "canary-output-\(index)"
            status.outputs[index].name = "canary-output \(index)"
            status.outputs[index].profile = "canary-profile"
        }
        status.outputs[1].port = "/home/canaryuser/line"
        status.warnings = [
            .init(code: "weak-token", message: "/home/canaryuser/token", fix: "chmod /home/canaryuser/token"),
            .init(
                code: "output-away", message: "canary-output is away", fix: "canary-output", output: "canary-output-1"),
        ]
        return status
    }

    @Test
    func `nothing in it names a person, a computer, an address, a file or a single device`() throws {
        var sources = Self.sources(Self.status)
        sources.findings = Self.findings
        sources.machine.model = "canaryhost by Canary"
        sources.machine.kernel = "6.1.0-canaryhost"
        sources.devices[0].name = "Canary's TR-8S SNCANARY77"
        sources.loop = .init(kind: .port, stamps: .kernel, figures: Self.figures, profile: "canary-profile")
        sources.privateWords = PrivateWords(["canaryhost", "canaryuser", "Canary Person", "SNCANARY77"])
        let report = Report(sources)
        for text in [ReportText.markdown(report), try JSON.text(report)] {
            for canary in Self.canaries + ["canary", "97.98", "c0ffee"] {
                #expect(text.range(of: canary, options: .caseInsensitive) == nil, "\(canary)")
            }
            #expect(text.contains("TR-8S") && text.contains("weak-token") && text.contains("output-away"))
        }
        #expect(report.gateway?.outputs.map(\.profile) == ["own", "own"])
        #expect(report.gateway?.warnings.map(\.output) == [nil, 2])
        #expect(ReportText.markdown(report).contains("**Output 2 (profile of the user's own, raw line"))
        // The canaries were there to be found.
        let whole = Self.findings.map(\.found).joined()
        for canary in ["canaryuser", "10.97.98.99", "enx00c0ffeecafe", "/etc/canary.service", "Canary Synth"] {
            #expect(whole.contains(canary))
        }
    }
}

/// What a report reads of a system made of files.
@Suite
struct ReportMachineTests {
    private let files = FileTree()
    private var tree: SystemTree { SystemTree(root: files.root) }

    private func makeDevice(_ place: String, _ vendor: String, _ product: String, _ name: String?) throws {
        let folder = "sys/bus/usb/devices/\(place)"
        try files.write("\(folder)/idVendor", "\(vendor)\n")
        try files.write("\(folder)/idProduct", "\(product)\n")
        try files.write("\(folder)/speed", "480\n")
        if let name { try files.write("\(folder)/product", "\(name)\n") }
    }

    @Test
    func `devices for MIDI and audio are found with the hubs before them, and their cards`() throws {
        let devices = "sys/bus/usb/devices"
        try files.write("\(devices)/usb1/product", "xHCI Host Controller\n")
        try makeDevice("1-1", "2109", "3431", "USB2.0 Hub")
        try files.write("\(devices)/1-1:1.0/bInterfaceClass", "09\n")
        try makeDevice("1-1.2", "0582", "0258", "TR-8S")
        try files.write("\(devices)/1-1.2/serial", "SN1\n")
        try files.write("\(devices)/1-2:1.1/bInterfaceClass", "01\n")
        try files.write("\(devices)/1-2:1.1/bInterfaceSubClass", "01\n")
        try files.write("\(devices)/1-1.2:1.0/bInterfaceClass", "01\n")
        try files.write("\(devices)/1-1.2:1.0/bInterfaceSubClass", "02\n")
        try files.write("\(devices)/1-1.2:1.1/bInterfaceClass", "01\n")
        try files.write("\(devices)/1-1.2:1.1/bInterfaceSubClass", "03\n")
        try makeDevice("1-1.3", "046d", "c31c", "Keyboard")
        try files.write("\(devices)/1-1.3:1.0/bInterfaceClass", "03\n")
        try makeDevice("1-2", "0582", "0000", nil)
        try files.write("\(devices)/1-2:1.0/bInterfaceClass", "ff\n")
        try files.link("\(devices)/1-2:1.0/driver", to: "../../../../bus/usb/drivers/snd-usb-audio")
        try makeDevice("1-3", "secret", "0001", "odd")
        try files.write("\(devices)/1-3:1.0/bInterfaceClass", "01\n")
        try files.write("\(devices)/1-3:1.0/bInterfaceSubClass", "03\n")
        try files.link("sys/class/sound/card1/device", to: "../../../1-1.2:1.0")
        try files.link("sys/class/sound/card0/device", to: "../../../0000:00:1f.3")
        let found = USBDevice.all(tree)
        #expect(
            found == [
                USBDevice(
                    place: "1-1.2", vendor: "0582", product: "0258", name: "TR-8S", speed: 480,
                    kinds: ["audio", "midi"], hubs: [.init(vendor: "2109", product: "3431", speed: 480)],
                    controller: "xHCI Host Controller"),
                USBDevice(
                    place: "1-2", vendor: "0582", product: "0000", speed: 480, kinds: ["other"],
                    controller: "xHCI Host Controller"),
            ])
        #expect(USBDevice.places(ofCards: tree) == [1: "1-1.2"])
        #expect(PrivateWords(ofMachine: tree, devices: found).left(outOf: "TR-8S SN1") == "TR-8S …")
    }

    @Test
    func `a computer is described by its board or its firmware, its system and its kernel`() throws {
        try files.write("proc/sys/kernel/osrelease", "6.1.0-56-amd64\n")
        try files.write("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC alice@laptop Debian 6.1.1 (2024-02-01)\n")
        try files.write("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")
        try files.write(
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: Xeon\nflags\t: fpu hypervisor\n\nprocessor\t: 1\nSerial\t: 1\n")
        try files.write("sys/class/dmi/id/sys_vendor", "QEMU\n")
        try files.write("sys/class/dmi/id/product_name", "Standard PC\n")
        try files.write("sys/class/dmi/id/product_serial", "SN1\n")
        var machine = MachineDescription(tree)
        #expect(machine.model == "QEMU Standard PC" && machine.processor == "Xeon" && machine.processors == 2)
        #expect(machine.isVirtual && machine.distribution == "Debian GNU/Linux 12 (bookworm)")
        #expect(machine.kernel == "6.1.0-56-amd64" && machine.kernelOptions == ["SMP", "PREEMPT_DYNAMIC"])
        try files.write("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0")
        machine = MachineDescription(tree)
        #expect(machine.model == "Raspberry Pi 4 Model B Rev 1.4")
        let nothing = MachineDescription(SystemTree(root: files.root + "nowhere/"))
        #expect(nothing.model == nil && nothing.processors == 1 && nothing.kernel.isEmpty)
    }
}

@Suite
struct ReportCommandTests {
    @Test(arguments: [
        ("report --seconds 0", "--seconds is a whole number from 1 to 3600"),
        ("report --seconds 3601", "--seconds is a whole number from 1 to 3600"),
        ("report --url http://10.0.0.1:8808", "a report is about the computer that it is made on"),
        ("report --loop drums.wav", "name the input at which the cable ends"),
        ("report --loop virtual:Drums", "name the input at which the cable ends"),
        ("report --loop pcm:", "name a sound card"),
        ("report --output /", "is a folder; name a file in it"),
        ("report --output /nowhere/report.md", "there is no folder /nowhere"),
        ("report --output /dev/full", "is not an ordinary file"),
    ])
    func `a wrong argument is refused with what would be right`(line: String, message: String) throws {
        var ending: Ending?
        do {
            _ = try Tactus.parseAsRoot(line.split(separator: " ").map(String.init))
        } catch {
            ending = Ending(error)
        }
        #expect(ending?.exitCode == 64)
        #expect(ending?.text.contains(message) == true, "\(ending?.text ?? "accepted")")
    }
}
