import ALSASequencer
import BeatTime
import ClockDispatch
import MIDIClock
import Pulses
import Simulation
import Testing

@testable import CardOutput

/// Outputs on simulated cards: from the board to what leaves the card.
@Suite
struct CardRunTests {
    /// A card, what plays on it, and what the outputs do.
    private struct Rig {
        var card: RecordedCard
        var board: OutputBoard
        var run: CardRun
        var pulses = 0
        var skipped = 0

        init(_ card: VirtualCard, _ settings: [PulseSettings], tempo: Double = 120, channels: Int? = nil) {
            self.card = RecordedCard(card, channels: channels ?? settings.flatMap(\.lines).count)
            let line = TickLine(
                microsecondsPerBeat: Tempo(beatsPerMinute: tempo).microsecondsPerBeat,
                timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
            board = OutputBoard(map: TempoMap(line), transport: .stopped)
            board.count = settings.count
            var (parts, next): ([SoundCardSetup.Part], Int) = ([], 1)
            for (slot, settings) in settings.enumerated() {
                board.slots[slot] = OutputBoard.Slot(sink: .card, occupant: 7)
                parts.append(
                    .init(
                        output: "\(slot)", slot: slot, occupant: 7, settings: settings,
                        channels: Array(next..<next + settings.lines.count)))
                next += settings.lines.count
            }
            run = CardRun(SoundCardSetup(device: "card", parts: parts), on: self.card)
        }

        mutating func play(seconds: Double) throws {
            let end = card.now + seconds * 1e6
            while card.now < end {
                try run.turn(&card, board)
                run.takeCounts { count in
                    pulses += count.pulses
                    skipped += count.skipped
                }
                card.now += 2_500 + card.lateness()
            }
        }

        /// The song begins on a tick, or is over.
        mutating func setPlaying(_ isPlaying: Bool, from tick: Int64 = 0) {
            board.transport =
                isPlaying
                ? PlannedTransport(isPlaying: true, startTick: tick, ticksPerBar: 96) : .stopped
        }
    }

    private static let clock = PulseSettings([PulseLine(.clock(.perBeat(24), .percent(50)))])
    private static let dinSync = PulseSettings(
        [PulseLine(.clock(.perBeat(24), .percent(50))), PulseLine(.run)], lead: 9_500)

    private static func virtualCard(_ partsPerMillion: Double, step: Int = 192, seed: UInt64 = 1) -> VirtualCard {
        VirtualCard(partsPerMillion: partsPerMillion, step: step, random: SeededGenerator(seed: seed))
    }

    @Test(arguments: [100.0, -100, 1_000], [192, 1])
    func `after the first minute each pulse is near a straight line for ten, beside MIDI`(
        partsPerMillion: Double, step: Int
    ) throws {
        var rig = Rig(Self.virtualCard(partsPerMillion, step: step), [Self.clock])
        try rig.play(seconds: 60)
        let before = rig.card.rises[0].count
        try rig.play(seconds: 600)
        let rises = Array(rig.card.rises[0][before...])
        let fit = LineFit(rises.enumerated().map { (x: Double($0.offset), y: $0.element) })
        let farthest = rises.enumerated().map { abs($0.element - fit.value(at: Double($0.offset))) }.max() ?? 1e6
        #expect(farthest < 150, "\(farthest) us")
        #expect(abs(rises.count - 600 * 48) <= 2)
        #expect(zip(rises, rises.dropFirst()).allSatisfy { abs($1 - $0 - 1e6 / 48) < 300 })
        // MIDI ticks are sent at the times of the tempo map.
        let apart = rises.map { $0 - ($0 * 48 / 1e6).rounded() / 48 * 1e6 }
        #expect((apart.max() ?? 1e6) - (apart.min() ?? 0) < 200)
        #expect(rig.run.underruns == 0)
        #expect(rig.pulses == rig.card.rises[0].count)
    }

    @Test(arguments: [20.0, 60, 120, 174.5, 240, 300])
    func `run rises 9 to 11 ms before the first beat, without a clock edge in between`(tempo: Double) throws {
        var rig = Rig(Self.virtualCard(100), [Self.dinSync], tempo: tempo)
        try rig.play(seconds: 20)
        let tick = Int64(rig.card.now / (2_500_000 / tempo)) + 48
        rig.setPlaying(true, from: tick)
        try rig.play(seconds: 12)
        rig.setPlaying(false)
        try rig.play(seconds: 1)
        let (clock, run) = (rig.card.rises[0], rig.card.rises[1])
        try #require(run.count == 1)
        let first = try #require(clock.first { $0 > run[0] })
        #expect((9_000...11_000).contains(first - run[0]), "\(first - run[0]) us")
        #expect(abs(first - Double(tick) * 2_500_000 / tempo) < 1_000)
        #expect(rig.card.falls[0].allSatisfy { !(run[0]..<first).contains($0) || $0 - run[0] < 11_000 })
        #expect(rig.card.falls[1].count == 1)
    }

    @Test
    func `a stall of 50 ms is counted, and within 0.2 s all pulses are in their places`() throws {
        var rig = Rig(Self.virtualCard(-100), [Self.clock])
        try rig.play(seconds: 30)
        // Starts are planned by that.
        #expect((15_000...30_000).contains(rig.run.ahead))
        for _ in 0..<8 {
            rig.card.now += 50_000
            let (begin, before) = (rig.card.now, rig.card.rises[0].count)
            try rig.play(seconds: 3)
            let placed = rig.card.rises[0][before...].filter { $0 > begin + 200_000 }
            #expect(placed.count > 100)
            let apart = placed.map { abs($0 - ($0 * 48 / 1e6).rounded() / 48 * 1e6) }
            #expect((apart.max() ?? 1e6) < 1_000)
        }
        // The more often it was late, the further ahead it writes, so the last ones were no underruns.
        #expect((3...6).contains(rig.run.underruns), "\(rig.run.underruns)")
        #expect(rig.run.ahead >= 45_000)
        #expect(rig.skipped + rig.pulses >= rig.card.rises[0].count)
    }

    @Test
    func `two outputs of one card know nothing of each other`() throws {
        var rig = Rig(Self.virtualCard(100), [Self.dinSync, Self.clock])
        rig.board.slots[1].settings.offset = 5_000
        try rig.play(seconds: 5)
        rig.board.slots[0].isEnabled = false
        let (first, second) = (rig.card.rises[0].count, rig.card.rises[2].count)
        try rig.play(seconds: 5)
        #expect(rig.card.rises[0].count - first < 3)
        #expect(abs(rig.card.rises[2].count - second - 240) < 3)
        let late = rig.card.rises[2].suffix(100).map { $0 - (($0 - 5_000) * 48 / 1e6).rounded() / 48 * 1e6 }
        #expect(late.allSatisfy { abs($0 - 5_000) < 500 })
    }

    @Test
    func `an output with a channel that the card lacks plays nothing, and the others play on`() throws {
        var rig = Rig(Self.virtualCard(100), [Self.clock, Self.dinSync], channels: 2)
        rig.setPlaying(true)
        try rig.play(seconds: 5)
        #expect(abs(rig.card.rises[0].count - 240) < 3)
        #expect(rig.card.rises[1].isEmpty)
    }

    @Test
    func `an output that has gone plays nothing, even if another has its slot`() throws {
        var rig = Rig(Self.virtualCard(100), [Self.dinSync])
        rig.setPlaying(true, from: 960)
        try rig.play(seconds: 20)
        #expect(rig.card.rises[1].count == 1)
        rig.board.slots[0].occupant = 8
        try rig.play(seconds: 0.1)
        let before = rig.card.rises[0].count
        try rig.play(seconds: 5)
        #expect(rig.card.rises[0].count == before)
        #expect(rig.card.falls[1].count == 1)
    }

    @Test
    func `realigned, a machine is stopped and started again at a bar`() throws {
        var rig = Rig(Self.virtualCard(100), [Self.dinSync])
        rig.setPlaying(true, from: 960)
        try rig.play(seconds: 25)
        rig.board.slots[0].realigning.ask(.atBar)
        try rig.play(seconds: 5)
        let run = (rises: rig.card.rises[1], falls: rig.card.falls[1])
        try #require(run.rises.count == 2 && run.falls.count == 1)
        #expect(run.rises[1] - run.falls[0] >= 9_000)
        let first = try #require(rig.card.rises[0].first { $0 > run.rises[1] })
        #expect(abs((first / 2_000_000).rounded() * 2_000_000 - first) < 1_000)
    }

    @Test
    func `muted, a machine is stopped at the bar`() throws {
        var rig = Rig(Self.virtualCard(100), [Self.dinSync])
        rig.setPlaying(true, from: 960)
        try rig.play(seconds: 25)
        rig.board.slots[0].rest = Rest(from: 96 * 6, until: .max)
        try rig.play(seconds: 10)
        try #require(rig.card.falls[1].count == 1)
        #expect(abs(rig.card.falls[1][0] - 96 * 16 / 48 * 1e6) < 30_000)
    }

    @Test
    func `a machine with a clock alone stands still while it is muted, and enters at a bar`() throws {
        var rig = Rig(Self.virtualCard(100), [PulseSettings([PulseLine(.clock(.perBeat(2), .microseconds(15_000)))])])
        rig.board.slots[0].settings.isClockAlwaysOn = false
        rig.setPlaying(true, from: 480)
        try rig.play(seconds: 10)
        #expect((20...21).contains(rig.card.rises[0].count))
        #expect(abs(rig.card.rises[0][0] - 10_000_000) < 1_000)
        rig.board.slots[0].rest = Rest(from: 96 * 3, until: 96 * 5)
        try rig.play(seconds: 10)
        let rises = rig.card.rises[0].filter { $0 > 15_900_000 }
        #expect(abs(rises[0] - 20_000_000) < 1_000)
    }

    @Test
    func `a line that is high while it is off stays so through an underrun`() throws {
        var line = PulseLine(.run)
        line.isInverted = true
        var rig = Rig(Self.virtualCard(100), [PulseSettings([line])])
        try rig.play(seconds: 2)
        rig.card.now += 200_000
        try rig.play(seconds: 2)
        #expect(rig.run.underruns == 1)
        #expect(rig.card.rises[0].count == 2)  // at the start, and after the card fell silent
    }

    @Test
    func `frames that are on their way to a card are not counted as written ahead`() throws {
        var rig = Rig(Self.virtualCard(100, step: 1), [Self.clock])
        rig.card.onTheWay = 1_440
        try rig.play(seconds: 60)
        #expect(rig.run.underruns == 0)
        #expect(abs(rig.card.rises[0].count - 60 * 48) < 4)
    }

    @Test
    func `a card that is moved elsewhere while it plays is placed anew`() throws {
        var rig = Rig(Self.virtualCard(100), [Self.clock])
        try rig.play(seconds: 30)
        rig.card.pause(300_000)
        let (begin, before) = (rig.card.now, rig.card.rises[0].count)
        try rig.play(seconds: 5)
        #expect(rig.run.underruns == 1)
        let placed = rig.card.rises[0][before...].filter { $0 > begin + 200_000 }
        let apart = placed.map { abs($0 - ($0 * 48 / 1e6).rounded() / 48 * 1e6) }
        #expect((apart.max() ?? 1e6) < 1_000)
    }

    @Test
    func `a card that does not begin to play is given up`() throws {
        var rig = Rig(Self.virtualCard(100), [Self.clock])
        rig.card.standsStill = true
        #expect(throws: ALSAError.self) { try rig.play(seconds: 1) }
    }

    @Test
    func `a card that is unplugged is told of`() throws {
        var rig = Rig(Self.virtualCard(100), [Self.clock])
        try rig.play(seconds: 1)
        rig.card.isGone = true
        #expect(throws: ALSAError.self) { try rig.play(seconds: 1) }
    }
}
