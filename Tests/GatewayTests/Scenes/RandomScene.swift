import ALSASequencer
import Arbiter
import BeatTime
import ClockDispatch
import ConfigurationFiles
import MIDIClock
import Simulation

@testable import Gateway

/// Something that can happen to a gateway with six machines, a line, a pedal, and a second gateway on its network.
enum SceneStep: Hashable {
    case plug(Int)
    case pull(Int)
    /// Another program starts or ends exclusive use of the machine.
    case take(Int, Bool)
    /// The machine stops accepting messages, or accepts them again.
    case stick(Int, Bool)
    case command(Command)
    /// Loads another configuration.
    case configure(SceneConfiguration)
    /// The line's file appears or disappears.
    case line(Bool)
    case breakLine
    /// Limits how many bytes the line takes at once; nil removes the limit.
    case clog(Int?)
    case holdOutputThread(Bool)
    /// One of two leaders sends its clock for some seconds, with or without Start.
    case lead(Int, beatsPerMinute: Int, seconds: Int, starts: Bool)
    case plugLeaders
    case pullLeaders
    /// A user gives a command to the other gateway.
    case peer(Command)
    /// The other gateway's network cable is plugged in or pulled.
    case network(Bool)
    /// The pedal is plugged in or pulled.
    case pedal(Bool)
    /// A user presses the pedal's button of this number.
    case press(Int)
    /// From now on the system refuses a port for pedals, or allows one.
    case refuseControls(Bool)
    /// A user looks at the status.
    case watch
    /// The gateway is killed, and started again with what it has saved.
    case kill(SceneConfiguration)
}

/// The settings of the gateway in a random scene.
struct SceneConfiguration: Hashable {
    var outputs: Set<Destination> = []
    var connectsRecognised = true
    var quantum = 4
    var follow = FollowChoice.auto
    var stopsWhenLost = false
    var deactivatesWhenIdle = false
    var hasControls = false

    static let wanted: [Destination] = [
        .name("Box 0"), .name("Box 3"), .virtual("Side"), .raw(path: "/dev/midi", bitsPerSecond: 31_250),
    ]
    /// Box 0 and Box 1 take all messages, Box 2 takes no song position, and Box 3 has no profile.
    ///
    /// Box 4 gets twice as many ticks, with swing. Box 5 gets a third of them, and only while it plays.
    private static let library = [
        "boxes": "match: [Box 0, Box 1]", "simple": "match: [Box 2]\ntransport: { song-position: false }",
        "doubled": "match: [Box 4]\nclock: { multiply: 2, swing: 60 }",
        "divided": "match: [Box 5]\nclock: { divide: 3, range: [20, 60], when: playing, preroll: 1 }",
    ]
    /// A button for each action, but for those that take a machine off the beat on purpose.
    fileprivate static let verbs = Control.Verb.allCases.filter { !$0.isHeld }
    private static let controls = verbs.enumerated().map { number, verb in
        Control(
            port: Placed("Pedal", at: .init(file: "", line: 1, column: 1)), message: .init(.note, number), verb: verb,
            tempo: verb == .tempo ? 97_500 : nil)
    }

    func live() throws -> LiveConfiguration {
        var live = LiveConfiguration()
        live.outputs.library = try .of(Self.library)
        live.outputs.outputs = Self.wanted.filter(outputs.contains).map { OutputRequest($0) }
        live.outputs.connectsRecognised = connectsRecognised
        live.quantum = Beats(Double(quantum))
        live.follow = follow
        live.stopsWhenLost = stopsWhenLost
        live.deactivatesWhenIdle = deactivatesWhenIdle
        live.controls = hasControls ? Self.controls : []
        return live
    }

    init() {}

    init(using random: inout SeededGenerator) {
        outputs = Set(Self.wanted.filter { _ in random.chance(0.5) })
        connectsRecognised = random.chance(0.7)
        quantum = random.chance(0.7) ? 4 : Int.random(in: 0...8, using: &random)
        follow = random.chance(0.8) ? .auto : .off
        stopsWhenLost = random.chance(0.3)
        deactivatesWhenIdle = random.chance(0.2)
        hasControls = random.chance(0.7)
    }
}

/// A random sequence of steps.
///
/// A short scene heaps one fault on another. A long one is an ordinary day: everything is plugged in and plays, now and
/// then something happens, and what is broken is soon repaired.
struct RandomScene {
    struct Timed: Hashable {
        var step: SceneStep
        /// Milliseconds that pass after the step.
        var wait: Int64
    }

    let seed: UInt64
    let isLinkEnabled: Bool
    let start: SceneConfiguration
    /// What happens before the steps.
    private let opening: [Timed]
    var steps: [Timed]

    init(seed: UInt64, count: Int = 60) {
        var random = SeededGenerator(seed: seed)
        self.seed = seed
        isLinkEnabled = random.chance(0.5)
        start = SceneConfiguration(using: &random)
        opening = []
        steps = (0..<count).map { _ in
            Timed(
                step: SceneStep(using: &random),
                wait: .random(in: 0...(random.chance(0.1) ? 3_000 : 300), using: &random))
        }
    }

    /// A long scene.
    init(seed: UInt64, hours: Double) {
        var random = SeededGenerator(seed: seed).split("long")
        self.seed = seed
        isLinkEnabled = true
        start = SceneConfiguration(using: &random)
        let others: [SceneStep] = [.pedal(true), .line(true), .peer(.enableLink(true)), .command(.setPlaying(true))]
        opening = ((0..<6).map { .plug($0) } + others).map { Timed(step: $0, wait: 100) }
        steps = []
        var left = Int64(hours * 3_600_000)
        while left > 0 {
            let step = SceneStep(using: &random)
            let broken = Int64.random(in: 0...(random.chance(0.5) ? 500 : 20_000), using: &random)
            let quiet = Int64.random(in: 0...40_000, using: &random)
            if let repair = step.repair {
                steps += [Timed(step: step, wait: broken), Timed(step: repair, wait: quiet)]
                left -= broken
            } else {
                steps.append(Timed(step: step, wait: quiet))
            }
            left -= quiet
        }
    }

    private static let machines = (0..<6).map {
        var port = PortDescription.device(24 + $0, "Box \($0)", "Box \($0) MIDI 1", card: $0)
        port.isHardware = true
        return port
    }
    private static let pedal = PortDescription.device(40, "Pedal", "Pedal MIDI 1", card: 9)

    /// Plays the scene, then repairs everything and checks the final state.
    ///
    /// - Returns: the first broken promise; nil if there is none.
    func brokenPromise() -> BrokenPromise? {
        var account = TickAccount()
        return brokenPromise(&account)
    }

    /// The same, with an account of the ticks in the quiet times between steps.
    func brokenPromise(_ account: inout TickAccount) -> BrokenPromise? {
        var world = GatewayWorld("random scene", seed: seed)
        do throws(BrokenPromise) {
            try play(&world, &account)
            return nil
        } catch {
            return error
        }
    }

    /// The last steps of the scene before a time.
    func last(_ count: Int, before end: WorldTime) -> RandomScene {
        var scene = self
        var time = opening.map(\.wait).reduce(0, +)
        let happened = steps.prefix { timed in
            defer { time += timed.wait }
            return time * 1_000 <= end.microseconds
        }
        scene.steps = Array(happened.suffix(count))
        return scene
    }

    /// Plays the scene, and returns the gateway's log and the messages that each machine received.
    func account() -> [String] {
        var world = GatewayWorld("random scene", seed: seed)
        var lines: [String] = []
        var account = TickAccount()
        do throws(BrokenPromise) { try play(&world, &account) } catch { lines = ["\(error.promise), at \(error.time)"] }
        let gateway = world.nodes[0]
        lines += gateway.log.map { "\($0.text) \($0.metadata)" }
        for (receiver, machine) in gateway.machines {
            let moves = machine.events.filter { $0.message != .timingClock }
            lines.append(
                "\(receiver): "
                    + moves.map { "\($0.message) at \(gateway.clock.worldTime(of: HostTime(microseconds: $0.at)))" }
                    .joined(separator: ", "))
        }
        return lines
    }

    /// Removes steps that a failure does not need: halves first, then quarters, down to single steps.
    ///
    /// - Parameter fails: whether a scene fails.
    /// - Returns: a scene that still fails, but no longer does if any one step is removed.
    func shrunk(_ fails: (RandomScene) -> Bool) -> RandomScene {
        var scene = self
        var size = max(1, steps.count / 2)
        while true {
            var start = 0
            var hasShrunk = false
            while start < scene.steps.count {
                let range = start..<min(start + size, scene.steps.count)
                guard let smaller = [scene.dropping(range), scene.waiting(for: range)].first(where: fails) else {
                    start = range.upperBound
                    continue
                }
                scene = smaller
                hasShrunk = true
            }
            guard size > 1 || hasShrunk else { return scene }
            size = max(1, size / 2)
        }
    }

    private func dropping(_ range: Range<Int>) -> RandomScene {
        var scene = self
        scene.steps.removeSubrange(range)
        return scene
    }

    /// The scene without some steps, but with the time that passes in them.
    private func waiting(for range: Range<Int>) -> RandomScene {
        var scene = dropping(range)
        let time = steps[range].map(\.wait).reduce(0, +)
        if range.lowerBound > 0 { scene.steps[range.lowerBound - 1].wait += time }
        return scene
    }

    private func play(_ world: inout GatewayWorld, _ account: inout TickAccount) throws(BrokenPromise) {
        do {
            var configuration = GatewayConfiguration()
            configuration.isLinkEnabled = isLinkEnabled
            configuration.live = try start.live()
            _ = world.addGateway(configuration)
            world.plugLeaders(into: 0)
            _ = try world.addNode(tempo: 97)
            var tokens: [ReplyToken] = []
            for timed in opening + steps {
                try perform(timed.step, in: &world, &tokens)
                try run(&world, for: timed.wait, &account)
            }
            for step in [.holdOutputThread(false), .clog(nil), .line(true)] as [SceneStep] {
                try perform(step, in: &world, &tokens)
            }
            world.nodes[0].sequencer.taken = []
            world.nodes[0].sequencer.stuck = []
            // Enough for one bar at the slowest tempo and for reconnecting a device.
            try run(&world, for: 12_000)
            try expectAll(of: world, tokens)
        } catch let promise as BrokenPromise {
            throw promise
        } catch {
            throw BrokenPromise("\(error)", scenario: "random scene", seed: seed, time: .seconds(0), trace: Trace())
        }
    }

    /// Lets time pass after a step; what is left when the step has been dealt with is a stretch for the account.
    private func run(_ world: inout GatewayWorld, for milliseconds: Int64, _ account: inout TickAccount) throws {
        let settling = min(milliseconds, 6_000)
        try run(&world, for: settling)
        account.open(world.nodes)
        try run(&world, for: milliseconds - settling)
        if let fault = account.close(world.nodes) { throw world.broken(fault) }
        for gateway in world.nodes { gateway.forgetOldEvents() }
    }

    private func run(_ world: inout GatewayWorld, for milliseconds: Int64) throws {
        try world.run(until: Double(world.now.microseconds + milliseconds * 1_000) / 1e6)
    }

    private func perform(_ step: SceneStep, in world: inout GatewayWorld, _ tokens: inout [ReplyToken]) throws {
        let gateway = world.nodes[0]
        switch step {
        case .plug(let number):
            if !gateway.sequencer.ports.contains(Self.machines[number]) {
                gateway.sequencer.plug(Self.machines[number])
            }
        case .pull(let number): gateway.sequencer.unplug(Self.machines[number].address)
        case .take(let number, let isTaken):
            let address = Self.machines[number].address
            if isTaken { gateway.sequencer.taken.insert(address) } else { gateway.sequencer.taken.remove(address) }
        case .stick(let number, let isStuck):
            let address = Self.machines[number].address
            if isStuck { gateway.sequencer.stuck.insert(address) } else { gateway.sequencer.stuck.remove(address) }
        case .command(let command): tokens.append(world.command(command, at: 0))
        case .configure(let configuration): tokens.append(world.command(.configure(try configuration.live()), at: 0))
        case .line(let isThere): gateway.lines = isThere ? ["/dev/midi"] : []
        case .breakLine:
            for (slot, output) in gateway.engine.outputs.all.enumerated()
            where !output.hasOneDevice && output.name == "/dev/midi" {
                gateway.outputThread.breakLine(slot)
            }
        case .clog(let room): gateway.lineRooms["/dev/midi"] = room
        case .holdOutputThread(let isHeld): gateway.isOutputThreadStuck = isHeld
        case .lead(let number, let tempo, let seconds, let starts):
            let now = Double(world.now.microseconds) / 1e6
            world.playLeader(
                from: GatewayWorld.leaderPorts[number], at: 0, tempo: Double(tempo), jitter: .none,
                seconds: now...(now + Double(seconds)), seed: seed,
                transport: { starts && $0 == 24 ? [.start] : [] })
        case .plugLeaders:
            if !gateway.sequencer.ports.contains(where: { $0.address.client == 20 }) { world.plugLeaders(into: 0) }
        case .pullLeaders: for client in [20, 21] { gateway.sequencer.unplug(PortAddress(client: client, port: 0)) }
        case .peer(let command): world.command(command, at: 1)
        case .network(let isPlugged):
            if isPlugged { world.medium.plug(1) } else { world.medium.unplug(1) }
        case .pedal(let isThere):
            if gateway.sequencer.ports.contains(Self.pedal) != isThere {
                if isThere { gateway.sequencer.plug(Self.pedal) } else { gateway.sequencer.unplug(Self.pedal.address) }
            }
        case .press(let number):
            guard Self.isPedalConnected(to: gateway) else { return }
            let message = ChannelMessage(.note, number, channel: 1, value: 127)
            world.press([ControlArrival(message, at: world.hostTime(of: 0), from: Self.pedal.address)], at: 0)
        case .refuseControls(let isRefused): gateway.refusesControls = isRefused
        case .watch: gateway.watchedAt = world.hostTime(of: 0)
        case .kill(let configuration):
            world.kill(0, try configuration.live())
            world.connectLeaders(of: 0)
            // Nobody waits for the replies of a run that is over.
            tokens = []
        }
    }

    private static func isPedalConnected(to gateway: VirtualGateway) -> Bool {
        gateway.sequencer.subscriptions.contains {
            $0.sender == pedal.address && $0.receiver.client == VirtualGateway.controls
        }
    }

    /// Checks what must be true once everything is repaired.
    private func expectAll(of world: GatewayWorld, _ tokens: [ReplyToken]) throws(BrokenPromise) {
        let gateway = world.nodes[0]
        guard tokens.allSatisfy({ gateway.replies[$0] != nil }) else { throw world.broken("a command has no reply") }
        for output in gateway.status.outputs where output.presence == .here && output.hasOneDevice {
            let isThere = gateway.sequencer.ports.contains { output.name.hasPrefix($0.clientName) }
            guard (output.connectedTo != nil) == isThere || output.isLeader else {
                throw world.broken("\(output.name) is \(isThere ? "not " : "")connected")
            }
        }
        guard gateway.status.outputs.allSatisfy({ !$0.isLeaving }) else { throw world.broken("an output never leaves") }
        let canConnect = gateway.engine.controls.client != nil && gateway.sequencer.ports.contains(Self.pedal)
        guard Self.isPedalConnected(to: gateway) == canConnect else { throw world.broken("the pedal is not connected") }
        guard gateway.openLines.count <= 1 else { throw world.broken("a line stays open") }
    }
}

extension SceneStep {
    /// What ends the fault that this step is; nil if it is none, or ends by itself.
    fileprivate var repair: SceneStep? {
        switch self {
        case .pull(let machine): .plug(machine)
        case .take(let machine, true): .take(machine, false)
        case .stick(let machine, true): .stick(machine, false)
        case .line(false): .line(true)
        case .clog: .clog(nil)
        case .holdOutputThread(true): .holdOutputThread(false)
        case .pullLeaders: .plugLeaders
        case .network(false): .network(true)
        case .pedal(false): .pedal(true)
        case .refuseControls(true): .refuseControls(false)
        default: nil
        }
    }

    /// Draws a step.
    init(using random: inout SeededGenerator) {
        let machine = Int.random(in: 0..<6, using: &random)
        let isOn = random.chance(0.5)
        self =
            switch Int.random(in: 0..<29, using: &random) {
            case 0, 1, 2: .plug(machine)
            case 3: .pull(machine)
            case 4: .take(machine, isOn)
            case 5: .stick(machine, random.chance(0.4))
            case 6, 7: .configure(SceneConfiguration(using: &random))
            case 8: .line(isOn)
            case 9: .breakLine
            case 10: .clog(isOn ? nil : Int.random(in: 0...2, using: &random))
            case 11: .holdOutputThread(random.chance(0.3))
            case 12:
                .lead(
                    machine % 2, beatsPerMinute: .random(in: 60...200, using: &random),
                    seconds: .random(in: 1...8, using: &random), starts: isOn)
            case 13: isOn ? .plugLeaders : .pullLeaders
            case 14, 15: .peer(Self.command(using: &random))
            case 16: .network(random.chance(0.7))
            case 17: .watch
            case 18: .kill(SceneConfiguration(using: &random))
            case 19: .pedal(random.chance(0.8))
            case 20, 21: .press(.random(in: 0..<SceneConfiguration.verbs.count, using: &random))
            case 22: .refuseControls(random.chance(0.3))
            default: .command(Self.command(using: &random))
            }
    }

    private static func command(using random: inout SeededGenerator) -> Command {
        let isOn = random.chance(0.5)
        return switch Int.random(in: 0..<14, using: &random) {
        case 12: .stepTempo(by: isOn ? 1 : -0.5)
        case 13: .undo
        case 0: .enableLink(isOn)
        case 1: .toggleLink
        case 2: .enableStartStopSync(isOn)
        case 3, 4: .setPlaying(random.chance(0.7))
        case 5: .togglePlaying
        case 6: .setTempo(Tempo(beatsPerMinute: Double(Int.random(in: 60...200, using: &random))))
        case 7:
            .adjust(
                output: isOn ? nil : "Clock",
                OutputAdjustment(offset: Double(Int.random(in: -100...100, using: &random))))
        case 8: .realign(output: nil, isOn ? .atBar : .now)
        case 9: .follow(isOn ? .auto : .off)
        case 10: .setQuantum(Beats(Double(Int.random(in: 1...8, using: &random))))
        default: .adjust(output: isOn ? nil : "Box 0", OutputAdjustment(isEnabled: random.chance(0.7)))
        }
    }
}
