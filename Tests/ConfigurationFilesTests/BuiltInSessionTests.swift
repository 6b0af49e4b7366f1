import BeatTime
import ConfigurationFiles
import Glibc
import MIDIClock
import Simulation
import Testing

/// Every built-in profile in one session: its device gets exactly what its keys say.
@Suite
struct BuiltInSessionTests {
    private static let library = ProfileLibrary(builtIn: BuiltInProfile.all, folders: [])

    /// An output with a profile, in virtual time, and its device.
    private struct Stage {
        let settings: OutputSettings
        let line: TickLine
        var planner = TickPlanner()
        var device = DrumMachine()
        var faults: [String] = []
        var now: Int64 = 0

        init(_ profile: Profile, beatsPerMinute: Double) {
            settings = profile.settings
            line = TickLine(
                microsecondsPerBeat: Tempo(beatsPerMinute: beatsPerMinute).microsecondsPerBeat,
                timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
            planner.deviceConnected(isReturning: false)
        }

        /// Lets the song play from a tick, or stay stopped, until a time.
        mutating func run(from startTick: Int64?, until end: Int64) {
            var transport = PlannedTransport.stopped
            if let startTick {
                transport = PlannedTransport(isPlaying: true, startTick: startTick, ticksPerBar: 96)
            }
            let plan = OutputPlan(transport: transport, settings: settings)
            let map = TempoMap(line)
            while now < end {
                let time = HostTime(microseconds: now)
                let next = planner.next(plan, on: map, at: time)
                guard let next, next.due <= time else {
                    now = min(next?.due.microseconds ?? .max, end)
                    continue
                }
                planner.sent(next, at: time)
                if let fault = device.take(next.message, at: now, on: line, settings) { faults.append(fault) }
            }
        }

        func count(_ message: ClockMessage) -> Int { device.events.count { $0.message == message } }
    }

    @Test(arguments: library.profiles)
    func `a device gets the transport that its profile says`(profile: Profile) throws {
        var stage = Stage(profile, beatsPerMinute: 120)
        let settings = profile.settings
        // Eight beats stopped, sixteen of the song, eight stopped.
        stage.run(from: nil, until: 4_000_000)
        let idleTicks = stage.count(.timingClock)
        #expect(settings.isClockAlwaysOn ? idleTicks > 0 : idleTicks == 0)
        stage.run(from: 400, until: 16_000_000)
        let isStarted = stage.device.isPlaying
        stage.run(from: nil, until: 20_000_000)
        #expect(stage.faults.isEmpty)

        let starts = stage.count(.start)
        let continues = stage.count(.continue)
        let positions = stage.device.events.filter { if case .songPosition = $0.message { true } else { false } }
        switch settings.start {
        case .none:
            #expect(starts == 0 && continues == 0 && positions.isEmpty)
        case .start:
            #expect(starts == 1 && continues == 0 && positions.isEmpty)
        case .continue:
            #expect(starts == 0 && continues == 1)
            #expect(positions.count == (settings.takesSongPosition && settings.sendsStop ? 1 : 0))
        }
        #expect(isStarted == (settings.start != .none))
        #expect(stage.count(.stop) == (isStarted && settings.sendsStop ? 1 : 0))

        // The song begins at tick 400; Start is sent as much earlier as the profile says, where that fits.
        let events = stage.device.events
        guard let start = events.firstIndex(where: { $0.message == .start || $0.message == .continue }) else { return }
        let moved = events[start].at
        let top = stage.line.time(ofTick: 400).microseconds + settings.offset
        let tick = try #require(events[start...].first { $0.message == .timingClock }).at
        #expect(abs(tick - top) <= 1)
        let gap = 500_000 / 24 * settings.divide / settings.multiply
        #expect(abs(tick - moved - min(settings.lead, gap * 3 / 5)) <= 2)
    }

    @Test(arguments: library.profiles, [20.0, 55, 120, 290, 400, 999])
    func `a device gets a tempo it accepts, the session's or a folded one`(profile: Profile, tempo: Double) throws {
        var stage = Stage(profile, beatsPerMinute: tempo)
        let settings = profile.settings
        // Playing, because some clocks stop otherwise.
        stage.run(from: 96, until: Int64(60e6 / tempo * 24))
        let ticks = stage.device.ticks.suffix(25)
        let (first, last) = (try #require(ticks.first), try #require(ticks.last))
        let heard = 60e6 / 24 * Double(ticks.count - 1) / Double(last - first)
        let unfolded = tempo * Double(settings.multiply) / Double(settings.divide)
        let octaves = (heard / unfolded).logarithm
        #expect(abs(octaves - octaves.rounded()) < 0.01, "\(heard) BPM out of \(unfolded)")
        let (lowest, highest) = (Double(settings.tempos.lowest) / 1_000, Double(settings.tempos.highest) / 1_000)
        #expect(heard > lowest * 0.97 && heard < highest * 1.03, "\(heard) BPM out of \(unfolded)")
    }
}

extension Profile: CustomTestStringConvertible {
    public var testDescription: String { id }
}

extension Double {
    /// To base 2, of a positive number.
    fileprivate var logarithm: Double { Double(exponent) + Glibc.log2(significand) }
}
