import ALSASequencer
import ClockDispatch
import ConfigurationFiles
import Foundation
import GatewayStatus
import MIDIClock
import RealTime
import Testing

@testable import Gateway

/// The outputs of a machine without a sequencer, which are assigned and counted all the same.
@Suite
struct OutputRackTests {
    private let library: ProfileLibrary
    private let start = MonotonicTime(nanoseconds: 0)

    init() throws { library = try .of(["drums": #"match: ["TR-8S", "Volca"]"#]) }

    private func wishes(_ outputs: OutputAddress..., connectsRecognised: Bool = true) -> OutputWishes {
        var wishes = OutputWishes()
        wishes.hasClockPort = false
        wishes.connectsRecognised = connectsRecognised
        wishes.library = library
        wishes.outputs = outputs.map { OutputRequest($0) }
        return wishes
    }

    /// A rack that has opened no sequencer, and then is told what is wanted.
    private func rack(_ wishes: OutputWishes) -> OutputRack {
        var none = OutputWishes()
        (none.hasClockPort, none.connectsRecognised) = (false, false)
        var rack = OutputRack(none, needsSequencer: false)
        rack.configure(wishes, devices: [])
        return rack
    }

    private func drum(_ number: Int) -> PortDescription {
        .device(20 + number, "TR-8S", "TR-8S", card: number, at: "usb-\(number)")
    }

    /// Has the output thread and time go on until no slot is on its way to be free.
    private func settle(_ rack: inout OutputRack) {
        let late = MonotonicTime.now().advanced(byNanoseconds: 1_000_000_000)
        while rack.isSomeoneLeaving {
            _ = rack.freeSlots(existingPorts: 0, generations: (inUse: 1, published: 0), at: late)
        }
    }

    @Test
    func `what is strange about a profile is told of outputs that it drives, and of no others`() throws {
        var wishes = wishes(.virtual("Slow"))
        wishes.library = try .of(["slow": "transport: { lead: 9.5 }"])
        #expect(rack(wishes).warnings.isEmpty)
        wishes.outputs[0].profile = try wishes.library.profile(id: "slow")
        let warnings = rack(wishes).warnings
        #expect(warnings.map(\.code) == ["profile"])
        #expect(warnings.first?.message.hasPrefix("Slow: a 'lead' of 9.5 ms has room up to 157 BPM") == true)
    }

    @Test
    func `a slot is another's once the old output's port is deleted, and not before`() {
        var rack = rack(wishes(.virtual("Old")))
        rack.configure(wishes(.virtual("New")), devices: [])
        #expect(rack.outputs.map(\.name) == ["Old", "New"])
        let soon = MonotonicTime.now()
        let late = soon.advanced(byNanoseconds: 1_000_000_000)
        func free(_ rack: inout OutputRack, ports: UInt64, inUse: UInt64, at time: MonotonicTime) -> Bool {
            rack.freeSlots(existingPorts: ports, generations: (inUse, published: 6), at: time)
        }
        // Its Stop may still be to leave.
        #expect(!free(&rack, ports: 1, inUse: 6, at: soon))
        #expect(free(&rack, ports: 1, inUse: 6, at: late))
        // The output thread has yet to hear of it, and then to delete the port.
        #expect(!free(&rack, ports: 0, inUse: 6, at: late))
        #expect(!free(&rack, ports: 1, inUse: 7, at: late))
        #expect(rack.outputs[0].presence != .gone)
        #expect(free(&rack, ports: 0, inUse: 7, at: late))
        rack.configure(wishes(.virtual("New"), .virtual("Newer")), devices: [])
        #expect(rack.outputs.map(\.name) == ["Newer", "New"])
        #expect(rack.outputs[0].tenant == 3)
    }

    @Test
    func `devices that came and went with ever new names make room for those that come`() {
        var rack = rack(wishes())
        for number in 0..<200 {
            let port = PortDescription.device(20, "Volca", "Volca \(number)")
            _ = rack.assign([port])
            settle(&rack)
            _ = rack.assign([port])
            #expect(rack.outputs.contains { $0.target == .device(Device(port)) && $0.presence == .here })
            #expect(rack.warnings.isEmpty)
        }
        #expect(rack.outputs.count == OutputBoard.capacity)
    }

    @Test
    func `devices that are there keep their outputs, and one too many is told until one is gone`() {
        var rack = rack(wishes())
        let all = (0..<65).map(drum)
        for _ in 0..<3 {
            _ = rack.assign(all)
            settle(&rack)
        }
        #expect(rack.outputs.map(\.target) == all.dropLast().map { .device(Device($0)) })
        #expect(rack.warnings.map(\.code) == ["too-many-outputs"])
        _ = rack.assign(Array(all.dropLast()))
        #expect(rack.warnings.isEmpty)
    }

    @Test
    func `what the user names has its place before devices that came by themselves`() {
        var rack = rack(wishes())
        let all = (0..<64).map(drum)
        _ = rack.assign(all)
        rack.configure(wishes(.virtual("Mine")), devices: all)
        for _ in 0..<3 {
            _ = rack.assign(all)
            settle(&rack)
        }
        let names = rack.outputs.map(\.name)
        #expect(names.last == "Mine")
        #expect(Set(names).count == 64)
        #expect(rack.outputs.dropLast().map(\.target) == all.dropLast().map { .device(Device($0)) })
    }

    @Test
    func `a name the user gives adopts the output of the device it means, and of no other that it might`() {
        var rack = rack(wishes())
        let (small, large) = (
            PortDescription.device(20, "Volca", "Volca Drum Mk2"), PortDescription.device(21, "TR-8S", "Volca Drum")
        )
        _ = rack.assign([small, large])
        for (slot, port) in [small, large].enumerated() {
            _ = rack.outputs[slot].setConnected(to: port.address.description)
        }
        rack.configure(wishes(.name("volca drum")), devices: [small, large])
        #expect(rack.outputs.map(\.target) == [.device(Device(small)), .named("volca drum")])
        rack.configure(wishes(.name("volca drum"), .name("o")), devices: [small, large])
        #expect(rack.outputs[0].target == .device(Device(small)))
    }

    @Test
    func `a profile that the user names no more leaves the output to what recognises its device`() {
        var named = wishes(.name("Synth"))
        named.outputs[0].profile = library.profiles[0]
        var rack = rack(named)
        #expect(rack.outputs[0].profile?.id == "drums")
        rack.configure(wishes(.name("Synth")), devices: [])
        #expect(rack.outputs[0].profile == nil)
    }

    @Test
    func `a line that is wanted at another speed is opened once the Stop has left at the old one`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "tactus-\(UUID())").path()
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer {
            close(reader)
            unlink(path)
        }
        func tend(_ rack: inout OutputRack) {
            _ = rack.tendLines(isBroken: { _ in false }, generations: (inUse: 1, published: 0))
        }
        var rack = rack(wishes(.raw(path: path, bitsPerSecond: 31_250)))
        tend(&rack)
        #expect(rack.outputs[0].connectedTo == path)
        rack.configure(wishes(.raw(path: path, bitsPerSecond: 38_400)), devices: [])
        tend(&rack)
        #expect(rack.outputs[0].sink != .away)
        #expect(rack.outputs[1].connectedTo == nil)
        settle(&rack)
        tend(&rack)
        #expect(rack.outputs[1].connectedTo == path)
    }
}
