import ALSASequencer
import BeatTime
import CardOutput
import ClockDispatch
import ConfigurationFiles
import GatewayStatus
import Glibc
import MIDIClock
import Testing

@testable import Gateway

/// The outputs of a machine without a sequencer; they are assigned and counted all the same.
@Suite
struct OutputTableTests {
    private let library: ProfileLibrary
    private static let start = HostTime(microseconds: 0)

    init() throws { library = try .of(["drums": #"match: ["TR-8S", "Volca"]"#]) }

    private func configuration(_ outputs: Destination..., connectsRecognised: Bool = true) -> OutputConfiguration {
        var configuration = OutputConfiguration()
        configuration.hasClockPort = false
        configuration.connectsRecognised = connectsRecognised
        configuration.library = library
        configuration.outputs = outputs.map { OutputRequest($0) }
        return configuration
    }

    private func table(_ configuration: OutputConfiguration) -> OutputTable { OutputTable(configuration) }

    private func drum(_ number: Int) -> PortDescription {
        .device(20 + number, "TR-8S", "TR-8S", card: number, at: "usb-\(number)")
    }

    /// Lets the output thread and time proceed until no slot is being freed.
    private func settle(_ table: inout OutputTable) {
        var time = Self.start
        for _ in 0..<3 where table.isSomeoneLeaving {
            time = time.advanced(byMicroseconds: 1_000_000)
            _ = table.free(OutputReport(generationInUse: 1), 0, at: time)
        }
    }

    @Test
    func `a profile's warnings are shown for outputs that use it, and for no others`() throws {
        var configuration = configuration(.virtual("Slow"))
        configuration.library = try .of(["slow": "transport: { lead: 9.5 }"])
        #expect(table(configuration).notices.isEmpty)
        configuration.outputs[0].profile = try configuration.library.profile(id: "slow")
        let warnings = table(configuration).notices
        #expect(warnings.map(\.code) == ["profile"])
        #expect(warnings.first?.message.hasPrefix("Slow: a 'lead' of 9.5 ms is only possible up to 157 BPM") == true)
    }

    private static func card(channels: Int) -> OutputCard.Playing {
        .init(sampleRate: 48_000, hasOwnClock: true, channelCount: channels, ahead: 15_000)
    }

    @Test
    func `outputs on one sound card are set up together, and are away until it plays`() throws {
        var configuration = configuration(
            .card("hw:CARD=ES8", channels: [3, 4]), .card("hw:CARD=ES8", channels: [1, 2]), .card("hw:1", channels: [1])
        )
        configuration.library = ProfileLibrary(builtIn: BuiltInProfile.all, folders: [])
        for (index, profile) in ["din-sync-24", "volca-sync", "volca-sync"].enumerated() {
            configuration.outputs[index] = OutputRequest(
                configuration.outputs[index].destination, profile: try configuration.library.profile(id: profile))
            #expect(configuration.outputs[index].contradiction == nil)
        }
        #expect(!configuration.needsSequencer || configuration.connectsRecognised)
        var table = table(configuration)
        #expect(table.cards.map(\.device) == ["hw:CARD=ES8", "hw:1"])
        #expect(table.cards[0].parts.map(\.channels) == [[3, 4], [1, 2]])
        #expect(table.all.map(\.name) == ["hw:CARD=ES8/3+4", "hw:CARD=ES8/1+2", "hw:1/1"])
        #expect(table.all.allSatisfy { $0.connectedTo == nil && $0.sink == .idle })
        let busy = ALSAError(operation: "snd_pcm_open", code: -EBUSY)
        var states: [String: OutputCard.State] = [
            "hw:CARD=ES8": .playing(Self.card(channels: 4)), "hw:1": .failed(.error(busy)),
        ]
        var changed = table.cardsChanged(states)
        #expect(changed)
        #expect(table.all.map(\.connectedTo) == ["hw:CARD=ES8", "hw:CARD=ES8", nil])
        #expect(table.all[2].trouble?.fix.hasPrefix("close the program that plays on it") == true)
        changed = table.cardsChanged(states)
        #expect(!changed)
        // The card turns out to have fewer channels.
        states["hw:CARD=ES8"] = .playing(Self.card(channels: 2))
        changed = table.cardsChanged(states)
        #expect(changed)
        #expect(table.all.map(\.connectedTo) == [nil, "hw:CARD=ES8", nil])
        #expect(table.all[0].trouble?.reason == "the sound card has no channel 4; it has 2")
        // Its names turn out to mean one card, on which another output has the channel.
        var playing = Self.card(channels: 4)
        playing.taken = [table.all[1].id: .init(channel: 1, output: table.all[0].id)]
        changed = table.cardsChanged(["hw:CARD=ES8": .playing(playing), "hw:1": .failed(.error(busy))])
        #expect(changed)
        #expect(table.all.map(\.connectedTo) == ["hw:CARD=ES8", nil, nil])
        #expect(table.all[1].trouble?.reason == "output 'hw:CARD=ES8/3+4' has channel 1 of this sound card already")
        // After a reload, its profile sends no pulses any more.
        configuration.outputs[2].profile = nil
        table.configure(configuration, devices: [])
        changed = table.cardsChanged(states)
        #expect(changed)
        #expect(table.all[2].trouble?.reason.contains("needs a profile that sends pulses") == true)
        // Given up to another program.
        let holder = CardHolder(program: "JACK", manner: .hasAsked)
        changed = table.cardsChanged(["hw:CARD=ES8": .failed(.held(holder)), "hw:1": .failed(.error(busy))])
        #expect(changed)
        let trouble = try #require(table.all[0].trouble)
        #expect(trouble.reason == "JACK has asked for the sound card")
        #expect(trouble.fix.hasPrefix("close that program") && trouble.fix.hasSuffix("use audio:default/3+4"))
        #expect(table.all[0].connectedTo == nil)
        // Unplugged.
        let gone = ALSAError(operation: "snd_pcm_status", code: -ENODEV)
        changed = table.cardsChanged(["hw:CARD=ES8": .failed(.error(gone)), "hw:1": .failed(.error(busy))])
        #expect(changed)
        #expect(table.all.allSatisfy { $0.connectedTo == nil && $0.sink == .idle })
    }

    @Test
    func `a sound card needs a profile of one line, or as many as channels, and no two outputs share one`() throws {
        let library = ProfileLibrary(builtIn: BuiltInProfile.all, folders: [])
        let (two, one) = (try library.profile(id: "din-sync-24"), try library.profile(id: "volca-sync"))
        let first = OutputRequest(.card("hw:1", channels: [1, 2]), profile: two)
        #expect(OutputRequest(.card("hw:1", channels: [1])).contradiction?.contains("needs a profile") == true)
        #expect(OutputRequest(.card("hw:1", channels: [1]), profile: two).contradiction?.contains("2 channels") == true)
        #expect(OutputRequest(.card("hw:1", channels: [1, 2, 5]), profile: one).contradiction == nil)
        #expect(OutputRequest(.name("TR-8S"), profile: one).contradiction?.contains("sends pulses") == true)
        #expect(OutputRequest(.card("hw:1", channels: [2]), profile: one).sharedChannel(with: [first]) == 2)
        // If card 1 is that, the second is away: the configuration is the same on all computers.
        let other = OutputRequest(.card("hw:CARD=ES8", channels: [2]), profile: one)
        #expect(other.sharedChannel(with: [first]) == nil)
    }

    @Test
    func `a slot is reused, and its port deleted, once nothing of the old output is sent any more`() {
        var table = table(configuration(.virtual("Old")))
        table.configure(configuration(.virtual("New")), devices: [])
        #expect(table.all.map(\.name) == ["Old", "New"])
        let soon = Self.start
        let late = soon.advanced(byMicroseconds: 1_000_000)
        func free(_ table: inout OutputTable, inUse: UInt64, at time: HostTime) -> Bool {
            table.free(OutputReport(generationInUse: inUse), 6, at: time)
        }
        // The output thread has not seen it yet, however long that lasts.
        let early = soon.advanced(byMicroseconds: -1_000_000)
        #expect(!free(&table, inUse: 5, at: early))
        #expect(!free(&table, inUse: 5, at: soon))
        // Now another output may have its device; its Stop may still have to be sent.
        #expect(free(&table, inUse: 6, at: soon))
        #expect(!free(&table, inUse: 6, at: soon))
        #expect(free(&table, inUse: 6, at: late))
        // The output thread has yet to see it.
        #expect(!free(&table, inUse: 6, at: late))
        #expect(table.all[0].presence != .gone)
        #expect(free(&table, inUse: 7, at: late))
        table.configure(configuration(.virtual("New"), .virtual("Newer")), devices: [])
        #expect(table.all.map(\.name) == ["Newer", "New"])
        #expect(table.all[0].occupant == 3)
    }

    @Test
    func `devices that come and go under new names make room for new ones`() {
        var table = table(configuration())
        for number in 0..<200 {
            let port = PortDescription.device(20, "Volca", "Volca \(number)")
            _ = table.assign([port])
            settle(&table)
            _ = table.assign([port])
            #expect(table.all.contains { $0.destination == .device(Device(port)) && $0.presence == .here })
            #expect(table.notices.isEmpty)
        }
        #expect(table.all.count == OutputBoard.capacity)
    }

    @Test
    func `present devices keep their outputs, and one too many is reported until one is gone`() {
        var table = table(configuration())
        let all = (0..<65).map(drum)
        for _ in 0..<3 {
            _ = table.assign(all)
            settle(&table)
        }
        #expect(table.all.map(\.destination) == all.dropLast().map { .device(Device($0)) })
        #expect(table.notices.map(\.code) == ["too-many-outputs"])
        _ = table.assign(Array(all.dropLast()))
        #expect(table.notices.isEmpty)
    }

    @Test
    func `a named output takes precedence over automatic ones`() {
        var table = table(configuration())
        let all = (0..<64).map(drum)
        _ = table.assign(all)
        table.configure(configuration(.virtual("Mine")), devices: all)
        for _ in 0..<3 {
            _ = table.assign(all)
            settle(&table)
        }
        let names = table.all.map(\.name)
        #expect(names.last == "Mine")
        #expect(Set(names).count == 64)
        #expect(table.all.dropLast().map(\.destination) == all.dropLast().map { .device(Device($0)) })
    }

    @Test
    func `a new name adopts the output of the one device it means`() {
        var table = table(configuration())
        let (small, large) = (
            PortDescription.device(20, "Volca", "Volca Drum Mk2"), PortDescription.device(21, "TR-8S", "Volca Drum")
        )
        _ = table.assign([small, large])
        for (slot, port) in [small, large].enumerated() {
            _ = table.all[slot].setConnected(to: port.address.description)
        }
        table.configure(configuration(.name("volca drum")), devices: [small, large])
        #expect(table.all.map(\.destination) == [.device(Device(small)), .name("volca drum")])
        table.configure(configuration(.name("volca drum"), .name("o")), devices: [small, large])
        #expect(table.all[0].destination == .device(Device(small)))
    }

    @Test
    func `a profile no longer named by the user is replaced by the one that recognizes the device`() {
        var named = configuration(.name("Synth"))
        named.outputs[0].profile = library.profiles[0]
        var table = table(named)
        #expect(table.all[0].profile?.id == "drums")
        table.configure(configuration(.name("Synth")), devices: [])
        #expect(table.all[0].profile == nil)
    }

    @Test
    func `a line at a new speed is opened after the Stop was sent at the old one`() throws {
        var table = table(configuration(.raw(path: "/dev/a", bitsPerSecond: 31_250)))
        var time = Self.start
        func asked(_ table: inout OutputTable) -> [GatewayQuestion] {
            var effects = GatewayEffects()
            time = time.advanced(byMicroseconds: 250_000)
            _ = table.tendLines(OutputReport(generationInUse: 1), 0, &effects, at: time)
            return effects.questions
        }
        #expect(asked(&table) == [.openLine(table.place(0), path: "/dev/a", bitsPerSecond: 31_250)])
        let isTaken = table.lineOpened(table.place(0), 7)
        #expect(isTaken)
        #expect(table.all[0].connectedTo == "/dev/a" && asked(&table).isEmpty)
        table.configure(configuration(.raw(path: "/dev/a", bitsPerSecond: 38_400)), devices: [])
        #expect(asked(&table).isEmpty && table.all[0].sink == .line(7))
        settle(&table)
        #expect(asked(&table) == [.openLine(table.place(1), path: "/dev/a", bitsPerSecond: 38_400)])
    }
}

extension OutputTable {
    /// Frees slots when nothing is subscribed.
    fileprivate mutating func free(_ report: OutputReport, _ published: UInt64, at now: HostTime) -> Bool {
        var (patchbay, effects) = (Patchbay(), GatewayEffects())
        return freeSlots(report, published, &patchbay, &effects, at: now)
    }
}
