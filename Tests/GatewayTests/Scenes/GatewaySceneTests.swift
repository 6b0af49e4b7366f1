import ALSASequencer
import Arbiter
import BeatTime
import CardOutput
import ClockDispatch
import ConfigurationFiles
import GatewayStatus
import LinkNetwork
import LinkSession
import MIDIClock
import Simulation
import Testing

@testable import Gateway

/// What a whole gateway does when machines, users and other programs act.
@Suite
struct GatewaySceneTests {
    private static let drums = PortDescription.device(24, "TR-8S", "TR-8S MIDI 1", card: 1, at: "usb-1")

    private static func configuration(
        _ profiles: [String: String] = ["drums": "match: [TR-8S]"], _ outputs: Destination...
    ) throws -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.isLinkEnabled = false
        configuration.live.outputs.library = try .of(profiles)
        configuration.live.outputs.outputs = outputs.map { OutputRequest($0) }
        return configuration
    }

    /// A scene in which an output has driven a machine for a second while the song plays.
    private static func playing() throws -> GatewayScene {
        var scene = GatewayScene(try configuration([:], .name("TR-8S")))
        scene.sequencer.plug(drums)
        scene.run(for: 10)
        scene.command(.setPlaying(true))
        scene.run(for: 1_000)
        return scene
    }

    @Test
    func `a recognised machine is connected, and its return is logged`() throws {
        var scene = GatewayScene(try Self.configuration())
        scene.run(for: 10)
        scene.sequencer.plug(Self.drums)
        scene.run(for: 10)
        #expect(scene.output("TR-8S")?.connectedTo == "24:0" && scene.hearers(of: "TR-8S") == [24])
        #expect(scene.output("TR-8S")?.profile?.id == "drums")
        scene.sequencer.unplug(Self.drums.address)
        scene.run(for: 10)
        #expect(scene.output("TR-8S")?.connectedTo == nil)
        scene.sequencer.plug(Self.drums)
        scene.run(for: 10)
        #expect(scene.hearers(of: "TR-8S") == [24])
        let told = scene.log.map { "\($0.text)" }
        #expect(told == ["output added", "output connected", "device unplugged", "output connected"])
        #expect(scene.broken.isEmpty)
    }

    @Test
    func `a bridge that is connected to every port is not taken for a machine, nor warned of`() throws {
        var scene = GatewayScene(try Self.configuration([:], .name("TR-8S")))
        scene.sequencer.plug(Self.drums)
        scene.run(for: 10)
        let bridge = PortDescription(
            address: PortAddress(client: 143, port: 0), clientName: "PipeWire-RT-Event", portName: "TR-8S",
            isReadable: false, isWritable: false)
        scene.sequencer.plug(bridge)
        for port in scene.sequencer.ports where port.isReadable {
            _ = try scene.sequencer.subscribe(.init(from: port.address, to: bridge.address))
        }
        for port in scene.sequencer.ports where port.isWritable {
            _ = try scene.sequencer.subscribe(.init(from: bridge.address, to: port.address))
        }
        scene.run(for: 1_000)
        #expect(scene.output("TR-8S")?.connectedTo == "24:0" && scene.hearers(of: "TR-8S").contains(24))
        #expect(scene.engine.outputs.all.filter { $0.presence == .here }.map(\.name) == ["Clock", "TR-8S"])
        #expect(scene.engine.outputs.doubledClocks.isEmpty && scene.engine.arbiter.mode == .internal)
        // The bridge hears the ticks of both outputs.
        #expect(scene.broken.allSatisfy { $0.hasPrefix("port(143:0) hears") })
    }

    /// An output of another run on this computer.
    private static let foreign = PortDescription(
        address: PortAddress(client: 140, port: 1), clientName: "Tactus", portName: "TR-8S", isReadable: true,
        isWritable: false)

    @Test
    func `a machine that another run drives is left alone, told, and connected once that run has ended`() throws {
        for named in [[], [Destination.name("TR-8S")]] {
            var configuration = try Self.configuration()
            configuration.live.outputs.outputs = named.map { OutputRequest($0) }
            var scene = GatewayScene(configuration)
            for port in [Self.drums, Self.foreign] { scene.sequencer.plug(port) }
            _ = try scene.sequencer.subscribe(.init(from: Self.foreign.address, to: Self.drums.address))
            scene.run(for: 1_000)
            let output = try #require(scene.output("TR-8S"))
            #expect(output.connectedTo == nil && scene.hearers(of: "TR-8S") == [])
            #expect(output.trouble?.reason == "another run of Tactus (client 140) sends to it")
            scene.sequencer.unplug(client: Self.foreign.address.client)
            scene.run(for: 1_000)
            #expect(scene.output("TR-8S")?.trouble == nil && scene.hearers(of: "TR-8S") == [24])
            #expect(scene.broken.isEmpty)
        }
    }

    @Test
    func `a machine that another run connects as well is kept, and told of while it hears both`() throws {
        var scene = try Self.playing()
        scene.sequencer.plug(Self.foreign)
        scene.run(for: 10)
        #expect(!scene.engine.outputs.notices.contains { $0.code == "clock-twice" })
        let subscription = SubscriptionGraph.Subscription(from: Self.foreign.address, to: Self.drums.address)
        _ = try scene.sequencer.subscribe(subscription)
        scene.run(for: 100)
        #expect(scene.engine.outputs.notices.map(\.code) == ["clock-twice"] && scene.hearers(of: "TR-8S") == [24])
        scene.sequencer.unsubscribe(subscription)
        scene.run(for: 100)
        #expect(scene.engine.outputs.notices.isEmpty && scene.broken.isEmpty)
    }

    @Test
    func `a tempo that was set stays saved, whatever happens before the session has it`() throws {
        var scene = GatewayScene(try Self.configuration())
        scene.command(.setTempo(Tempo(beatsPerMinute: 133)))
        #expect(scene.kept.tempo == 133)
        // Anything that is decided before the Link peer has answered.
        scene.command(.setQuantum(Beats(3)))
        #expect(scene.kept.tempo == 133)
        scene.run(for: 10)
        #expect(scene.kept.tempo == 133 && scene.status.leadership.timeline.tempo.beatsPerMinute == 133)
        #expect(scene.broken == [])
    }

    @Test
    func `what was saved counts in the next run, at the Link peer too`() throws {
        var kept = KeptState()
        (kept.startStopSync, kept.tempo, kept.link) = (true, 97, false)
        let live = try Self.configuration().live
        let scene = GatewayScene(GatewayConfiguration(live, kept: kept), kept: kept)
        #expect(scene.link.isStartStopSyncEnabled && !scene.link.isEnabled)
        #expect(scene.status.leadership.timeline.tempo.beatsPerMinute == 97 && scene.broken == [])
    }

    @Test
    func `what was set at a machine is so in the next run, until it is configured otherwise`() throws {
        var scene = GatewayScene(try Self.configuration([:], .name("TR-8S")))
        scene.sequencer.plug(Self.drums)
        scene.run(for: 10)
        let change = OutputAdjustment(offset: 3, multiply: 3, divide: 2, swing: 60, range: 40...100)
        scene.command(.adjust(output: "TR-8S", change))
        scene.run(for: 1_000)
        let settings = scene.output("TR-8S")?.settings
        #expect(settings?.divide == 2 && settings?.multiply == 3)
        scene.kill(try Self.configuration([:], .name("TR-8S")).live)
        scene.run(for: 2_500)
        #expect(scene.output("TR-8S")?.settings == settings)
        scene.command(.adjust(output: "TR-8S", OutputAdjustment(divide: 1)))
        scene.run(for: 100)
        scene.kill(try Self.configuration(["drums": "match: [TR-8S]\nclock: { swing: 55 }"]).live)
        scene.run(for: 2_500)
        let next = scene.output("TR-8S")
        #expect(next?.profile?.id == "drums" && next?.settings.swing == 550 && next?.settings.divide == 1)
        #expect(next?.settings.multiply == 3 && next?.settings.tempos == settings?.tempos && next?.offset == 3_000)
        #expect(scene.broken == [])
    }

    @Test
    func `a machine that was switched off stays so in the next run`() throws {
        var scene = try Self.playing()
        scene.command(.adjust(output: "TR-8S", OutputAdjustment(isEnabled: false)))
        scene.run(for: 1_000)
        let before = scene.machines[.port(Self.drums.address)]
        #expect(before?.isPlaying == false)
        let live = try Self.configuration([:], .name("TR-8S")).live
        scene.kill(live)
        scene.run(for: 2_500)
        scene.command(.setPlaying(true))
        scene.run(for: 3_000)
        #expect(scene.hearers(of: "TR-8S") == [24] && scene.output("TR-8S")?.isEnabled == false)
        let after = scene.machines[.port(Self.drums.address)]
        #expect(after?.isPlaying == false && after?.ticks.count == before?.ticks.count)
        scene.command(.adjust(output: "TR-8S", OutputAdjustment(isEnabled: true)))
        scene.run(for: 3_000)
        #expect(scene.machines[.port(Self.drums.address)]?.isPlaying == true && scene.kept.outputs.isEmpty)
        scene.kill(live)
        scene.run(for: 2_500)
        #expect(scene.output("TR-8S")?.isEnabled == true && scene.broken == [])
    }

    @Test
    func `a machine that a killed run left playing is stopped, whatever its output is called now`() throws {
        let drums = ["drums": "match: [TR-8S]"]
        for next in [
            try Self.configuration(drums), try Self.configuration([:], .number(PortAddress(client: 24, port: 0))),
        ] {
            var scene = try Self.playing()
            let started = scene.kept.playing
            #expect(started == ["tr-8s"])
            scene.command(.configure(try Self.configuration([:], .number(PortAddress(client: 24, port: 0))).live))
            scene.run(for: 5_000)
            #expect(scene.machines[.port(Self.drums.address)]?.isPlaying == true)
            scene.kill(next.live)
            scene.run(for: 2_500)
            #expect(scene.machines[.port(Self.drums.address)]?.isPlaying == false)
            #expect(scene.broken == [])
        }
    }

    @Test
    func `a machine that a killed run left playing is stopped if its output is removed at once`() throws {
        var scene = try Self.playing()
        scene.command(.enableLink(true))
        scene.run(for: 100)
        scene.kill(try Self.configuration([:], .name("TR-8S")).live)
        scene.run(for: 100)
        #expect(scene.output("TR-8S")?.isHeldBack == true)
        scene.command(.configure(try Self.configuration([:]).live))
        scene.run(for: 1_000)
        #expect(scene.machines[.port(Self.drums.address)]?.isPlaying == false)
        #expect(scene.sequencer.subscriptions.isEmpty && scene.broken == [])
    }

    @Test
    func `a machine that a killed run left playing is stopped if it gets another output before it is free`() throws {
        var scene = try Self.playing()
        scene.sequencer.taken = [Self.drums.address]
        scene.kill(try Self.configuration().live)
        scene.run(for: 2_000)
        scene.command(.configure(try Self.configuration([:], .name("TR-8S")).live))
        scene.sequencer.taken = []
        scene.run(for: 2_500)
        #expect(scene.hearers(of: "TR-8S") == [24])
        #expect(scene.machines[.port(Self.drums.address)]?.isPlaying == false)
        #expect(scene.broken == [])
    }

    @Test
    func `after a killed run the user is asked whether to resume, until play or stop`() throws {
        for isPlaying in [true, false] {
            var scene = try Self.playing()
            #expect(scene.status.restartedAt == nil)
            scene.kill(try Self.configuration([:], .name("TR-8S")).live)
            scene.run(for: 2_500)
            #expect(scene.status.restartedAt != nil && !scene.status.leadership.transport.isPlaying)
            scene.command(.setPlaying(isPlaying))
            scene.run(for: 100)
            #expect(scene.status.restartedAt == nil && scene.broken == [])
        }
    }

    @Test
    func `with resume a song goes on after a killed run, and only then`() throws {
        for (left, isInSong) in [(["tr-8s"], true), (["tr-8s"], false), ([], true)] {
            var configuration = try Self.configuration([:], .name("TR-8S"))
            configuration.resumes = true
            var kept = KeptState()
            (kept.playing, kept.isInSong) = (left, isInSong)
            var scene = GatewayScene(configuration, kept: kept)
            scene.sequencer.plug(Self.drums)
            scene.run(for: 4_000)
            let resumes = isInSong && !left.isEmpty
            #expect(scene.status.leadership.transport.isPlaying == resumes && scene.status.restartedAt == nil)
            #expect((scene.machines[.port(Self.drums.address)]?.isPlaying == true) == resumes && scene.broken == [])
        }
    }

    @Test
    func `losing the last network is told for as long as it lasts`() throws {
        var scene = GatewayScene(try Self.configuration())
        var link = LinkState(scene.link, at: scene.now)
        (link.isEnabled, link.isActive) = (true, true)
        for (interfaces, isLost) in [
            (["127.0.0.1"], false), (["127.0.0.1", "10.0.0.2"], false), (["127.0.0.1"], true), ([], true),
            (["10.0.0.2"], false),
        ] {
            link.interfaces = interfaces
            scene.take(.link(link))
            #expect(scene.status.hasLostNetwork == isLost)
        }
    }

    @Test
    func `at the end machines are stopped before the session is left, and one that refuses is remembered`() throws {
        for isStuck in [false, true] {
            var scene = try Self.playing()
            if isStuck { scene.sequencer.stuck = [Self.drums.address] }
            scene.end()
            #expect(scene.endings == ["clock", "input", "link", "replies"])
            #expect(scene.machines[.port(Self.drums.address)]?.isPlaying == isStuck)
            #expect(scene.kept.playing == (isStuck ? ["tr-8s"] : []) && scene.broken == [])
        }
    }

    @Test
    func `after lost news the present state counts, and a reply still comes after it`() throws {
        var scene = GatewayScene(try Self.configuration())
        let old = LinkState(scene.link, at: scene.now)
        scene.command(.setTempo(Tempo(beatsPerMinute: 133)))
        scene.run(for: 10)
        let present = LinkState(scene.link, at: scene.now)
        scene.take(.link(old))
        #expect(scene.status.link.sessionState.tempo.beatsPerMinute == 120)
        scene.take([.link(old), .done(ReplyToken(number: 99))], lost: .init(link: present))
        #expect(scene.status.link.sessionState.tempo.beatsPerMinute == 133)
        #expect(scene.status.leadership.timeline.tempo.beatsPerMinute == 133 && scene.replies.count == 2)
    }

    @Test
    func `a machine that another program uses exclusively is connected once it is free`() throws {
        var scene = GatewayScene(try Self.configuration([:], .name("TR-8S")))
        scene.sequencer.plug(Self.drums)
        scene.sequencer.taken = [Self.drums.address]
        scene.run(for: 100)
        #expect(scene.output("TR-8S")?.trouble?.reason == "another program has it to itself")
        #expect(scene.hearers(of: "TR-8S").isEmpty)
        scene.sequencer.taken = []
        scene.run(for: 3_100)
        #expect(scene.output("TR-8S")?.trouble == nil && scene.hearers(of: "TR-8S") == [24])
        #expect(scene.broken.isEmpty)
    }

    @Test
    func `a removed output first stops its machine, and only then is its slot reused`() throws {
        var scene = GatewayScene(try Self.configuration([:], .name("TR-8S")))
        scene.sequencer.plug(Self.drums)
        scene.run(for: 10)
        scene.command(.configure(try Self.configuration([:], .virtual("Other")).live))
        scene.run(for: 150)
        #expect(scene.sequencer.subscriptions.contains { $0.receiver.client == 24 })
        scene.isOutputThreadStuck = true
        scene.run(for: 1_000)
        scene.command(.configure(try Self.configuration([:], .virtual("Other"), .virtual("Third")).live))
        #expect(scene.output("Third")?.source?.port == 3)
        scene.isOutputThreadStuck = false
        scene.run(for: 1_000)
        #expect(!scene.sequencer.subscriptions.contains { $0.receiver.client == 24 })
        scene.command(
            .configure(
                try Self.configuration([:], .virtual("Other"), .virtual("Third"), .virtual("Fourth")).live))
        #expect(scene.output("Fourth")?.source?.port == 1)
        #expect(scene.broken.isEmpty)
    }

    @Test
    func `a machine is disconnected only after its Stop was sent, even if the output thread hangs`() throws {
        var scene = try Self.playing()
        #expect(scene.machines[.port(Self.drums.address)]?.isPlaying == true)
        scene.isOutputThreadStuck = true
        scene.command(.configure(try Self.configuration([:]).live))
        scene.run(for: 2_000)
        #expect(scene.sequencer.subscriptions.contains { $0.receiver.client == 24 })
        scene.isOutputThreadStuck = false
        scene.run(for: 2_000)
        #expect(scene.machines[.port(Self.drums.address)]?.isPlaying == false && scene.broken.isEmpty)
    }

    @Test
    func `a machine that refuses its Stop is stopped once it accepts messages again`() throws {
        var scene = try Self.playing()
        scene.sequencer.stuck = [Self.drums.address]
        scene.command(.setPlaying(false))
        scene.run(for: 1_000)
        #expect(scene.machines[.port(Self.drums.address)]?.isPlaying == true)
        scene.sequencer.stuck = []
        scene.run(for: 500)
        let isPlaying = scene.machines[.port(Self.drums.address)]?.isPlaying
        #expect(isPlaying == false)
        #expect(scene.broken == [])
    }

    @Test
    func `a machine that accepts messages again half a second after its output was removed is stopped`() throws {
        var scene = try Self.playing()
        scene.sequencer.stuck = [Self.drums.address]
        scene.command(.configure(try Self.configuration([:]).live))
        scene.run(for: 500)
        scene.sequencer.stuck = []
        scene.run(for: 1_000)
        #expect(scene.machines[.port(Self.drums.address)]?.isPlaying == false)
        #expect(scene.sequencer.subscriptions.isEmpty && scene.broken == [])
    }

    @Test
    func `a removed output sends no Stop to a machine that another output has placed since`() throws {
        var scene = try Self.playing()
        for pause: Int64 in stride(from: 50, through: 950, by: 100) {
            scene.sequencer.stuck = [Self.drums.address]
            let other: Destination = pause / 100 % 2 == 0 ? .number(PortAddress(client: 24, port: 0)) : .name("TR-8S")
            scene.command(.configure(try Self.configuration([:], other).live))
            scene.run(for: pause)
            scene.sequencer.stuck = []
            scene.run(for: 5_000)
            #expect(scene.machines[.port(Self.drums.address)]?.isPlaying == true, "\(pause) ms")
        }
        #expect(scene.broken == [])
    }

    private static let line = Destination.raw(path: "/dev/midi", bitsPerSecond: 31_250)

    /// A gateway that has played for 3 s to a line whose output was removed and made again at once.
    ///
    /// The old output was still leaving then, so the new one has another ID.
    private static func playingLine() throws -> GatewayScene {
        var scene = GatewayScene(try configuration([:], line))
        scene.lines = ["/dev/midi"]
        scene.command(.configure(try configuration([:]).live))
        scene.command(.configure(try configuration([:], line).live))
        scene.command(.setPlaying(true))
        scene.run(for: 3_000)
        return scene
    }

    @Test
    func `a line that broke while its machine played stops it first when another output opens it`() throws {
        var scene = try Self.playingLine()
        #expect(scene.machines[.line("/dev/midi")]?.isPlaying == true)
        scene.breakLine(try #require(scene.status.outputs.firstIndex { $0.connectedTo == "/dev/midi" }))
        scene.run(for: 200)
        scene.command(.configure(try Self.configuration([:]).live))
        scene.run(for: 1_500)
        scene.command(.configure(try Self.configuration([:], Self.line).live))
        scene.run(for: 3_000)
        #expect(scene.machines[.line("/dev/midi")]?.isPlaying == true && scene.broken == [])
    }

    @Test
    func `a killed run's line is stopped by the next run, which knows its output by another name`() throws {
        var scene = try Self.playingLine()
        #expect(scene.kept.playing == ["dev-midi-2"])
        scene.kill(try Self.configuration([:], Self.line).live)
        scene.run(for: 3_000)
        #expect(scene.machines[.line("/dev/midi")]?.isPlaying == false && scene.broken == [])
    }

    @Test
    func `a command is answered when the status shows it`() throws {
        var scene = GatewayScene(try Self.configuration())
        let offset = scene.command(.adjust(output: "Clock", OutputAdjustment(offset: 12)))
        #expect(scene.replies[offset] != nil && scene.output("Clock")?.offset == 12_000)
        let link = scene.command(.enableLink(true))
        #expect(scene.replies[link] == nil)
        scene.run(for: 1)
        #expect(scene.replies[link] != nil && scene.status.link.isEnabled && scene.kept.link == true)
        let tempo = scene.command(.setTempo(Tempo(beatsPerMinute: 133)))
        scene.run(for: 1)
        #expect(scene.replies[tempo] != nil && scene.status.leadership.timeline.tempo.beatsPerMinute == 133)
        let reload = scene.command(
            .configure(try Self.configuration(["drums": "match: [TR-8S]"], .name("24:0")).live))
        #expect(scene.replies[reload] != nil && scene.output("24:0") != nil)
        let unclear = scene.command(.adjust(output: "tuba", OutputAdjustment(offset: 1)))
        #expect(scene.refusal(unclear)?.description.hasPrefix("no output is called tuba") == true)
        #expect(scene.broken.isEmpty)
    }

    @Test
    func `a reload connects a machine that is already there, and the next one disconnects it`() throws {
        var scene = GatewayScene(try Self.configuration([:]))
        scene.sequencer.plug(Self.drums)
        scene.run(for: 10)
        scene.command(.configure(try Self.configuration([:], .name("TR-8S")).live))
        scene.run(for: 10)
        #expect(scene.hearers(of: "TR-8S") == [24])
        scene.command(.configure(try Self.configuration([:]).live))
        scene.run(for: 1_000)
        #expect(scene.sequencer.subscriptions.isEmpty && scene.broken.isEmpty)
    }

    @Test
    func `a line is opened when its file appears, and closed and opened again after it fails`() throws {
        var scene = GatewayScene(try Self.configuration([:], .raw(path: "/dev/midi", bitsPerSecond: 31_250)))
        scene.run(for: 600)
        #expect(scene.output("/dev/midi")?.trouble?.reason.contains("No such file") == true)
        scene.lines = ["/dev/midi"]
        scene.run(for: 300)
        #expect(scene.output("/dev/midi")?.connectedTo == "/dev/midi" && scene.openLines.count == 1)
        scene.breakLine(1)
        scene.isOutputThreadStuck = true
        scene.run(for: 2_000)
        #expect(scene.openLines.count == 1 && scene.output("/dev/midi")?.connectedTo == nil)
        scene.isOutputThreadStuck = false
        scene.run(for: 1_000)
        #expect(scene.openLines.count == 1 && scene.output("/dev/midi")?.connectedTo == "/dev/midi")
        #expect(scene.broken.isEmpty)
    }

    @Test
    func `a pedal gives commands, and repeated refusals are logged once`() throws {
        var configuration = try Self.configuration()
        let pedal = PortDescription.device(40, "Pedal", "Pedal MIDI 1", card: 2)
        configuration.live.controls = [
            Control(
                port: Placed("Pedal", at: .init(file: "", line: 1, column: 1)), message: .init(.controller, 64),
                verb: .togglePlay),
            Control(
                port: Placed("Pedal", at: .init(file: "", line: 1, column: 1)), message: .init(.note, 60),
                verb: .realign),
        ]
        var scene = GatewayScene(configuration)
        scene.sequencer.plug(pedal)
        scene.run(for: 10)
        func press(_ scene: inout GatewayScene, _ kind: ChannelMessage.Kind, _ number: Int) {
            scene.press([
                ControlArrival(.init(kind, number, channel: 1, value: 127), at: scene.now, from: pedal.address)
            ])
            scene.run(for: 200)
        }
        press(&scene, .controller, 64)
        #expect(scene.status.leadership.transport.isPlaying)
        for _ in 0..<3 { press(&scene, .note, 60) }
        #expect(scene.log.filter { "\($0.text)" == "control refused" }.count == 1)
        configuration.live.controls = []
        scene.command(.configure(configuration.live))
        scene.run(for: 10)
        #expect(!scene.sequencer.ports.contains { $0.address.client == VirtualGateway.controls })
        #expect(scene.broken.isEmpty)
    }

    @Test
    func `while a clock leads, the user cannot set the tempo; enabling Link keeps the clock's tempo`() throws {
        var scene = GatewayScene(try Self.configuration(["drums": "match: [TR-8S]\ninput: { role: leader }"]))
        scene.sequencer.plug(Self.drums)
        scene.run(for: 10)
        #expect(scene.sequencer.subscriptions.contains { $0.sender.client == 24 && $0.receiver.client == 130 })
        for _ in 0..<200 {
            scene.hear([.arrival(ClockArrival(.timingClock, at: scene.now, from: .port(client: 24, port: 0)))])
            scene.run(for: 20)
        }
        #expect(scene.status.leadership.mode == .follow)
        let refused = scene.command(.setTempo(Tempo(beatsPerMinute: 90)))
        let problem =
            "TR-8S MIDI 1 leads, so you cannot change that here; use 'tactus link on' or 'tactus follow off' first"
        #expect(scene.refusal(refused)?.description == problem)
        #expect(scene.output("TR-8S")?.boardSink == .idle, "the leader itself is sent no clock")
        let tempo = scene.status.leadership.timeline.tempo
        scene.command(.enableLink(true))
        scene.run(for: 1)
        #expect(scene.status.leadership.mode == .link && scene.status.leadership.timeline.tempo == tempo)
        #expect(scene.kept.tempo.map { abs($0 - 125) < 0.5 } == true)
        #expect(scene.broken.isEmpty)
    }

    @Test
    func `a clock that another program used exclusively is retried on request and every few seconds`() throws {
        for isAskedAgain in [true, false] {
            var scene = GatewayScene(try Self.configuration([:]))
            scene.sequencer.plug(Self.drums)
            scene.sequencer.takenSenders = [Self.drums.address]
            scene.run(for: 10)
            scene.command(.follow(.port("TR-8S")))
            scene.run(for: 100)
            #expect(scene.status.inputNotices.map(\.code) == ["clock-away"])
            scene.sequencer.takenSenders = []
            if isAskedAgain { scene.command(.follow(.port("TR-8S"))) } else { scene.run(for: 3_100) }
            #expect(scene.status.inputNotices.isEmpty)
            #expect(scene.sequencer.subscriptions.map(\.sender.client) == [24])
            #expect(scene.broken.isEmpty)
        }
    }

    @Test
    func `the log tells once that the clock to follow is away, and that it is back`() throws {
        var scene = GatewayScene(try Self.configuration([:]))
        scene.run(for: 10)
        scene.command(.follow(.port("TR-8S")))
        scene.run(for: 100)
        for _ in 0..<2 {
            scene.sequencer.plug(Self.drums)
            scene.run(for: 100)
            scene.sequencer.unplug(Self.drums.address)
            scene.run(for: 100)
        }
        let (away, back) = ("the clock to follow, TR-8S, is away", "the clock to follow is there")
        let told = scene.log.map { "\($0.text)" }.filter { $0.hasPrefix("the clock to follow") }
        #expect(told == [away, back, away, back, away])
        #expect(scene.broken.isEmpty)
    }

    @Test(arguments: [
        [Command.follow(.port("A")), .follow(.port("B"))], [.enableLink(true), .enableLink(false)],
        [.toggleLink],
    ])
    func `commands given without end do not fill the log`(commands: [Command]) throws {
        var scene = GatewayScene(try Self.configuration([:]))
        scene.run(for: 10)
        for number in 0..<300 {
            var command = commands[number % commands.count]
            if case .follow = command { command = .follow(.port("MPC \(number)")) }
            scene.command(command)
            scene.run(for: 100)
        }
        scene.run(for: 10_000)
        #expect((20..<40).contains(scene.log.count), "\(scene.log.count) lines in 40 s")
        #expect(scene.log.contains { "\($0.text)" == "too much happened in the session to log all of it" })
        #expect(scene.broken.isEmpty)
    }

    @Test(arguments: [15_000, 60_000] as [Int64])
    func `a song begins no sooner than a sound card can play it`(ahead: Int64) throws {
        var configuration = try Self.configuration(
            ["click": "pulses: [{ signal: click }]"], .card("hw:1", channels: [1]))
        configuration.live.outputs.outputs[0].profile = try configuration.live.outputs.library.profile(id: "click")
        var scene = GatewayScene(configuration)
        scene.take(
            .cards([
                "hw:1": .playing(.init(sampleRate: 48_000, hasOwnClock: true, channelCount: 2, ahead: ahead))
            ]))
        scene.run(for: 100)
        let asked = scene.now
        scene.command(.setPlaying(true))
        scene.run(for: 10)
        let board = scene.engine.board
        #expect(board.transport.isPlaying)
        #expect(asked.microseconds(to: board.map.time(ofTick: board.transport.startTick)) > ahead)
    }

    @Test
    func `a leader's name that means two ports is refused, and what was followed stays`() throws {
        var scene = GatewayScene(try Self.configuration([:]))
        scene.sequencer.plug(Self.drums)
        scene.sequencer.plug(.device(25, "TR-8S", "TR-8S MIDI 1", card: 2, at: "usb-2"))
        scene.run(for: 10)
        let token = scene.command(.follow(.port("TR-8S")))
        scene.run(for: 100)
        #expect(scene.refusal(token)?.description.contains("25:0") == true)
        #expect(scene.status.follow == .auto)
    }

    @Test
    func `a song that plays from the start begins as soon as its outputs are there`() throws {
        var configuration = try Self.configuration([:], .virtual("Drums"))
        configuration.playsAtStart = true
        var scene = GatewayScene(configuration)
        scene.run(for: 500)
        #expect(scene.status.leadership.transport.isPlaying)
    }

    /// Whatever is in the queue then: a Play of our own waits for it.
    @Test(arguments: [false, true])
    func `Play at any millisecond of a tick or a bar starts a machine with its first step`(isLinkOn: Bool) throws {
        var configuration = try Self.configuration([:], .name("TR-8S"))
        configuration.isLinkEnabled = isLinkOn
        var scene = GatewayScene(configuration)
        scene.sequencer.plug(Self.drums)
        scene.run(for: 500)
        for _ in 0..<90 {
            scene.command(.setPlaying(true))
            scene.run(for: 2_301)
            scene.command(.setPlaying(false))
            scene.run(for: 106)
        }
        let transport = try #require(scene.machines[.port(Self.drums.address)]).transport
        #expect(transport == (0..<90).flatMap { _ in [ClockMessage.start, .stop] })
        #expect(scene.broken == [])
    }

    @Test
    func `a program with a hidden port is followed when it connects itself`() throws {
        var scene = GatewayScene(try Self.configuration())
        let hidden = PortAddress(client: 140, port: 0)
        scene.sequencer.hide(hidden)
        _ = try scene.sequencer.subscribe(.init(from: hidden, to: PortAddress(client: VirtualGateway.clockIn, port: 0)))
        scene.run(for: 10)
        for _ in 0..<200 {
            scene.hear([.arrival(ClockArrival(.timingClock, at: scene.now, from: .port(client: 140, port: 0)))])
            scene.run(for: 20)
        }
        #expect(scene.status.leadership.mode == .follow)
        scene.command(.follow(.off))
        #expect(scene.sequencer.subscriptions.count == 1, "a connection that the user made stays")
        #expect(scene.broken.isEmpty)
    }
}
