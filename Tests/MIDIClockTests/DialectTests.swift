import BeatTime
import MIDIClock
import Simulation
import Testing

/// What devices are sent, depending on the transport in their profiles.
@Suite
struct DialectTests {
    /// A profile's transport, and what its device is sent: S is Start, C Continue, P Song Position, X Stop.
    struct Dialect: Sendable, CustomTestStringConvertible {
        var start = OutputSettings.StartMessage.start
        var lacks: Set<Lack> = []
        var realign = OutputSettings.Realign.songPosition
        /// At the start of a song; in a playing song; out of place in a playing song; when the song stops.
        var top, later, lost, stop: String

        enum Lack { case stop, `continue`, songPosition }

        var settings: OutputSettings {
            var settings = OutputSettings()
            (settings.start, settings.realign) = (start, realign)
            settings.sendsStop = !lacks.contains(.stop)
            settings.takesContinue = !lacks.contains(.continue)
            settings.takesSongPosition = !lacks.contains(.songPosition)
            return settings
        }

        var testDescription: String { "start: \(start), without \(lacks), realign: \(realign)" }
    }

    static let dialects: [Dialect] = [
        Dialect(top: "S", later: "PC", lost: "XPC", stop: "X"),
        Dialect(realign: .restart, top: "S", later: "S", lost: "XS", stop: "X"),
        Dialect(realign: .none, top: "S", later: "PC", lost: "", stop: "X"),
        Dialect(lacks: [.songPosition], top: "S", later: "S", lost: "XS", stop: "X"),
        Dialect(lacks: [.continue], top: "S", later: "S", lost: "XS", stop: "X"),
        Dialect(lacks: [.continue], realign: .none, top: "S", later: "S", lost: "", stop: "X"),
        Dialect(lacks: [.stop], top: "S", later: "S", lost: "S", stop: ""),
        Dialect(lacks: [.stop], realign: .none, top: "S", later: "S", lost: "", stop: ""),
        Dialect(lacks: [.stop, .continue, .songPosition], top: "S", later: "S", lost: "S", stop: ""),
        Dialect(start: .continue, top: "PC", later: "PC", lost: "XPC", stop: "X"),
        Dialect(start: .continue, realign: .restart, top: "PC", later: "PC", lost: "XPC", stop: "X"),
        Dialect(start: .continue, realign: .none, top: "PC", later: "PC", lost: "", stop: "X"),
        Dialect(start: .continue, lacks: [.songPosition], top: "C", later: "C", lost: "", stop: "X"),
        Dialect(start: .continue, lacks: [.stop], top: "C", later: "C", lost: "", stop: ""),
        Dialect(start: .continue, lacks: [.continue], top: "S", later: "S", lost: "XS", stop: "X"),
        Dialect(start: .continue, lacks: [.continue, .stop], top: "S", later: "S", lost: "S", stop: ""),
        Dialect(start: .none, top: "", later: "", lost: "", stop: "X"),
        Dialect(start: .none, realign: .restart, top: "", later: "", lost: "", stop: "X"),
        Dialect(start: .none, lacks: [.stop], top: "", later: "", lost: "", stop: ""),
    ]

    @Test(arguments: dialects, [true, false])
    func `a device is sent what its profile says`(dialect: Dialect, isClockAlwaysOn: Bool) {
        var settings = dialect.settings
        settings.isClockAlwaysOn = isClockAlwaysOn
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1)
        var score = playing(line, from: 24, settings)
        func told(_ seconds: Double) -> String {
            let before = device.transport.count
            device.run(score, until: device.now + Int64(seconds * 1_000_000))
            return device.transport.dropFirst(before).map(\.letter).joined()
        }
        let isPlaced = dialect.top != "" && dialect.top != "C"
        #expect(told(3) == dialect.top)
        if isPlaced { #expect(device.misplacementByEar(in: score) == nil) }
        score.plan.transport.isPlaying = false
        #expect(told(1) == dialect.stop)
        // The next song's beginning has passed when the planner learns of it.
        score.plan.transport = PlannedTransport(isPlaying: true, startTick: 192, ticksPerBar: 96)
        device.now = line.time(ofTick: 192).microseconds + 3_000
        #expect(told(5) == dialect.later)
        if isPlaced { #expect(device.misplacementByEar(in: score) == nil) }
        score.map.step(to: elsewhere(at: device.now + 345_678))
        #expect(told(5) == dialect.lost)
        if isPlaced, dialect.lost != "" { #expect(device.misplacementByEar(in: score) == nil) }
        score.plan.settings.divide = 2
        #expect(told(10) == dialect.lost)
        if isPlaced, dialect.lost != "" { #expect(device.misplacementByEar(in: score) == nil) }
        #expect(device.planner.finish() == (dialect.stop == "X" ? .stop : nil))
    }

    /// Ticks at 120 BPM, with tick 400 at a given time.
    private func elsewhere(at time: Int64) -> TickLine {
        line(beatsPerMinute: 120, timeOrigin: time, tickOrigin: 400)
    }

    @Test(arguments: dialects)
    func `the message that starts a device comes right before the first tick of the song`(dialect: Dialect) throws {
        let line = line(beatsPerMinute: 97.3)
        let now = HostTime(microseconds: 1_000_001)
        let reach = dialect.settings.reach(microsecondsPerBeat: line.microsecondsPerBeat)
        let top = line.firstTick(atOrAfter: now.advanced(byMicroseconds: reach))
        var device = DeviceUnderClock(now: 1)
        device.run(stopped(line, dialect.settings), until: now.microseconds)
        device.run(playing(line, from: top, dialect.settings), until: 2_000_000)
        #expect(device.transport.map(\.letter).joined() == dialect.top)
        guard let moves = device.events.firstIndex(where: { $0.message.isMoving }) else { return }
        #expect(device.events[moves + 1] == .init(message: .timingClock, at: line.time(ofTick: top).microseconds))
        #expect(device.events[moves].at == line.time(ofTick: top).microseconds - 1_000)
    }

    @Test(arguments: dialects)
    func `a device that returns is treated as one that may play, and is stopped`(dialect: Dialect) {
        var device = DeviceUnderClock(now: 1)
        let score = playing(line(beatsPerMinute: 120), from: 24, dialect.settings)
        device.run(score, until: 3_000_000)
        device.planner.deviceConnected(isReturning: true)
        device.run(score, until: 10_000_000)
        let stop = dialect.start == .none ? "" : dialect.stop
        #expect(device.transport.map(\.letter).joined() == dialect.top + stop + dialect.later)
    }

    @Test(arguments: dialects)
    func `a song that restarts under a playing device is played from its beginning`(dialect: Dialect) {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: 120)
        device.run(playing(line, from: 24, dialect.settings), until: 3_000_000)
        let score = playing(line, from: 192, dialect.settings)
        device.run(score, until: 7_000_001)
        let stop = dialect.start == .none ? "" : dialect.stop
        #expect(device.transport.map(\.letter).joined() == dialect.top + stop + dialect.top)
        if dialect.top != "", dialect.top != "C" { #expect(device.songPosition == 336 - 192 + 1) }
    }

    @Test(arguments: dialects)
    func `a requested realignment is carried out if the device can be placed`(dialect: Dialect) {
        var device = DeviceUnderClock(now: 1)
        let score = playing(line(beatsPerMinute: 120), from: 24, dialect.settings)
        device.run(score, until: 3_000_000)
        device.machine.slip(by: 7)
        device.planner.realign(.atBar)
        device.run(score, until: 10_000_000)
        let isPlaceable = dialect.later != "" && dialect.later != "C"
        let told = isPlaceable ? dialect.stop + dialect.later : ""
        #expect(device.transport.map(\.letter).joined() == dialect.top + told)
        if isPlaceable { #expect(device.misplacementByEar(in: score) == nil) }
    }

    @Test(arguments: [0, 1, 2] as [Int64])
    func `a clock that stops between songs begins its pre-roll before the song, or else at once`(preroll: Int64) {
        let line = line(beatsPerMinute: 120)
        var settings = OutputSettings(isClockAlwaysOn: false, preroll: preroll)
        settings.start = .none
        var early = DeviceUnderClock(now: 1)
        early.run(playing(line, from: 96, settings), until: 5_000_000)
        #expect(early.ticks.first == line.time(ofTick: 96 - 24 * preroll).microseconds)
        var late = DeviceUnderClock(now: 3_000_001)
        late.run(playing(line, from: 96, settings), until: 5_000_000)
        #expect(late.ticks.first == line.time(ofTick: 145).microseconds)
    }

    @Test(arguments: [0, 200, 349] as [Int64])
    func `a Song Position closer than the lead of Start is sent once`(locate: Int64) {
        let line = line(beatsPerMinute: 120)
        for step in Int64(0)..<40 {
            var device = DeviceUnderClock(now: line.time(ofTick: 60).microseconds - 400 + step * 10)
            device.run(playing(line, from: 24, OutputSettings(lead: 1_000, locate: locate)), until: 2_000_000)
            #expect(device.transport.map(\.letter).joined() == "PC")
        }
    }

    @Test
    func `a device that is never stopped is restarted while playing, right before a bar`() throws {
        var settings = OutputSettings()
        settings.sendsStop = false
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1)
        device.run(playing(line, from: 24, settings), until: 3_000_000)
        device.planner.realign(.atBar)
        device.run(playing(line, from: 24, settings), until: 8_000_000)
        #expect(device.transport == [.start, .start])
        let start = try #require(device.events.lastIndex { $0.message == .start })
        let tick = line.nearestTick(to: HostTime(microseconds: device.events[start + 1].at))
        #expect((tick - 24) % 96 == 0)
        #expect(device.ticks == (1...device.ticks.count).map { line.time(ofTick: Int64($0)).microseconds })
    }
}

extension ClockMessage {
    /// A short code for tables.
    var letter: String {
        switch self {
        case .timingClock: "."
        case .start: "S"
        case .continue: "C"
        case .stop: "X"
        case .songPosition: "P"
        }
    }

    var isMoving: Bool { self == .start || self == .continue }
}
