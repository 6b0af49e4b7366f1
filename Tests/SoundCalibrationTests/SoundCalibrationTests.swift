import OnsetDetection
import Simulation
import SoundCalibration
import SoundTrials
import Testing

@Suite
struct SoundCalibrationTests {
    /// Fifty machines of all kinds, in all kinds of rooms.
    private static func studio(_ seed: UInt64) -> VirtualStudio {
        var random = SeededGenerator(seed: seed).split("studio")
        var studio = VirtualStudio()
        studio.sound = Recording.Sound.allCases[Int(seed) % 5]
        studio.spoiled = [.not, .noise, .hum, .reverb, .all][Int(seed / 5) % 5]
        if studio.spoiled == .all { studio.spoiled = seed % 2 == 0 ? .noise : .reverb }
        studio.beatsPerMinute = Double.random(in: 110...200, using: &random)
        studio.delay = Double.random(in: -15_000...25_000, using: &random)
        studio.spread = Double.random(in: 300...1_500, using: &random)
        studio.inputLatency = Double.random(in: 0...5_000, using: &random)
        studio.offset = Double.random(in: -5_000...5_000, using: &random)
        return studio
    }

    @Test(arguments: Seeds.standing(1...50))
    func `the offset and the spread of any machine are found`(seed: UInt64) throws {
        let studio = Self.studio(seed)
        let take = studio.play(seed: seed)
        let result = try #require(try take.outcome?.get(), "\(studio)")
        let truth = take.truth.sorted()
        let middle = (truth[truth.count / 2 - 1] + truth[truth.count / 2]) / 2
        let bound = [.click, .trigger].contains(studio.sound) ? 200.0 : 500
        #expect(abs(result.delay - middle) < bound, "\(studio): \(result.delay) for \(middle)")
        #expect(abs(result.delay - studio.delay) < 1.5 * result.uncertainty, "\(studio)")
        #expect(result.offset == -result.delay)
        let mean = truth.reduce(0, +) / Double(truth.count)
        let spread = (truth.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(truth.count - 1)).squareRoot()
        #expect(abs(result.spread / spread - 1) < 0.15, "\(studio): \(result.spread) for \(spread)")
        #expect(abs(result.response - 1) < 0.3 && result.rejected < 4)
    }

    @Test
    func `beside another machine the card's latency does not matter, and the offset brings them together`() throws {
        var studio = VirtualStudio()
        (studio.other, studio.inputLatency, studio.offset) = (.machine(delay: 9_000), 3_000, 2_500)
        let take = studio.play(seed: 1)
        let result = try take.outcome!.get()
        #expect(result.reference == .machine)
        // The other is 9 ms late, this one 4 ms behind an offset of 2.5 ms; and 3 ms of the card's on its channel alone.
        #expect(abs(result.delay - (4_000 + 3_000 - (9_000 - 2_500))) < 200)
        #expect(result.offset == 2_500 - result.delay)
    }

    /// Of 20.8 ms for a tick at 120 BPM, the latencies are up to a whole one.
    @Test(arguments: [3_000.0, 8_000, 17_000, 21_000])
    func `beside its own cable the delay is the machine's alone, however late the card is`(latency: Double) throws {
        var studio = VirtualStudio()
        (studio.other, studio.inputLatency, studio.offset, studio.spread) = (.cable, latency, 2_500, 300)
        studio.beatsPerMinute = 120
        let result = try studio.play(seed: 2).outcome!.get()
        #expect(result.reference == .ownClock)
        #expect(abs(result.delay - (4_000 - VirtualStudio.wire)) < 200)
        #expect(result.offset == -result.delay)
    }

    @Test
    func `a cable that is plugged in after noise is a cable`() throws {
        var studio = VirtualStudio()
        (studio.other, studio.beatsPerMinute, studio.spread) = (.cable, 120, 300)
        // Cracks that are longer than a byte.
        studio.before = (0..<480_000).map { $0 % 1_000 < 30 ? 0.5 : 0 }
        var detector = MIDIByteDetector(sampleRate: 48_000)
        _ = detector.take(studio.before)
        #expect(detector.failures > 1_000, "so much noise is no cable")
        #expect(try studio.play(seed: 2).outcome!.get().reference == .ownClock)
    }

    @Test
    func `a sound that clips is told of its own channel, and for two seconds`() {
        var calibration = SoundCalibration(sampleRate: 48_000, isCompared: true)
        let silence = [Float](repeating: 0, count: 24_000)
        let burst = (0..<480).map { Float($0 / 24 % 2 == 0 ? 1 : -1) }
        calibration.take(SoundBlock(channels: [silence, silence], stamp: nil))
        calibration.take(SoundBlock(channels: [[Float](repeating: 0, count: 480), burst], stamp: nil))
        calibration.take(SoundBlock(channels: [silence, silence], stamp: nil))
        #expect(calibration.progress.otherClipped == 1 && calibration.progress.clipped == 0)
        for _ in 0..<5 { calibration.take(SoundBlock(channels: [silence, silence], stamp: nil)) }
        #expect(calibration.progress.otherClipped == 0)
    }

    @Test
    func `a cable on which no Start was heard does not say which tick is a beat`() {
        var studio = VirtualStudio()
        studio.other = .cableWithoutStart
        #expect(studio.play(seed: 2).outcome == .failure(.noStart))
    }

    @Test
    func `beside another machine at the same output there is no offset`() {
        var studio = VirtualStudio()
        studio.other = .machineAtSameOutput(delay: 9_000)
        #expect(studio.play(seed: 7).outcome == .failure(.sameClock))
    }

    @Test
    func `a card that hears late does not matter beside another machine`() throws {
        var studio = VirtualStudio()
        (studio.other, studio.delay, studio.spread) = (.machine(delay: 118_000), 121_000, 300)
        #expect(abs(try studio.play(seed: 4).outcome!.get().delay - 3_000) < 200)
    }

    @Test(arguments: Seeds.standing(1...3))
    func `a good machine is not blamed for a stranger on the channel beside it`(seed: UInt64) {
        for stranger: VirtualStudio.Other in [
            .stranger(partsPerMillion: 200, delay: 3_000), .stranger(partsPerMillion: 0, delay: 100_000),
        ] {
            var studio = VirtualStudio()
            (studio.other, studio.spread) = (stranger, 300)
            #expect(studio.play(seed: seed).outcome == .failure(.strangeReference), "\(stranger)")
        }
    }

    /// What cannot be measured, and what each is refused for.
    private enum Unfit: CaseIterable {
        case silence, faint, clipping, two, three, everySecond, voice, sixteenthLate, sixteenthEarly, fast, slow
        case itsOwnTempo, anotherTempo, halfTempo, silentHalfWay, silentSoon

        func spoil(_ studio: inout VirtualStudio) {
            let beat = 60e6 / studio.beatsPerMinute
            switch self {
            case .silence: studio.manner = .silent
            case .faint: (studio.level, studio.spoiled) = (0.000_2...0.000_3, .noise)
            case .clipping: studio.spoiled = .clipping
            case .two: studio.manner = .several(2)
            case .three: studio.manner = .several(3)
            case .everySecond: studio.manner = .skips
            case .voice: studio.manner = .talks
            case .sixteenthLate: studio.delay += beat / 4
            case .sixteenthEarly: studio.delay -= beat / 4
            case .fast: studio.manner = .ownTempo(partsPerMillion: 200)
            case .slow: studio.manner = .ownTempo(partsPerMillion: -200)
            case .itsOwnTempo: studio.manner = .ownTempo(partsPerMillion: 5)
            case .anotherTempo: studio.manner = .ownTempo(partsPerMillion: -170_000)
            case .halfTempo: studio.manner = .ownTempo(partsPerMillion: -1_000_000)
            case .silentHalfWay: studio.manner = .stops(after: 40)
            case .silentSoon: studio.manner = .stops(after: 24)
            }
        }

        func isRefused(for failure: MeasurementFailure) -> Bool {
            switch (self, failure) {
            case (.silence, .noHits(0, 16, nil)): true
            case (.faint, .noHits(_, 16, let decibels?)): decibels < -40
            case (.clipping, .clipping), (.everySecond, .uneven), (.voice, .uneven): true
            case (.anotherTempo, .uneven), (.halfTempo, .uneven): true
            case (.two, .several(let perBeat)): abs(perBeat - 2) < 0.1
            case (.three, .several(let perBeat)): abs(perBeat - 3) < 0.1
            case (.sixteenthLate, .wrongBeat(let late, let beat)): abs(late - beat / 4) < beat / 16
            case (.sixteenthEarly, .wrongBeat(let late, let beat)): abs(late + beat / 4) < beat / 16
            // A spread of 0.7 ms leaves so much open in a quarter of a minute.
            case (.fast, .drift(let perMinute)): abs(perMinute + 12_000) < 6_000
            case (.slow, .drift(let perMinute)): abs(perMinute - 12_000) < 6_000
            case (.itsOwnTempo, .doesNotFollow(let response)): abs(response) < 0.2
            case (.silentHalfWay, .fellSilent(40, 80)), (.silentSoon, .fellSilent(24, 48)): true
            default: false
            }
        }
    }

    @Test(arguments: Seeds.standing(1...4))
    func `what cannot be measured is refused for what it is, by any machine`(seed: UInt64) {
        for unfit in Unfit.allCases {
            var random = SeededGenerator(seed: seed).split("\(unfit)")
            var studio = VirtualStudio()
            studio.sound = [.click, .trigger, .hat].randomElement(using: &random)!  // three
            studio.beatsPerMinute = Double.random(in: 160...230, using: &random)
            studio.delay = Double.random(in: 0...8_000, using: &random)
            studio.spread = Double.random(in: 100...700, using: &random)
            unfit.spoil(&studio)
            switch studio.play(seed: random.next()).outcome {
            case .failure(let failure)?: #expect(unfit.isRefused(for: failure), "\(unfit): \(failure), \(studio)")
            case .success(let result)?: Issue.record("\(unfit): an offset of \(result.offset), \(studio)")
            case nil: Issue.record("\(unfit): no end, \(studio)")
            }
        }
    }

    @Test
    func `a machine that is a beat off, or varies too much, is refused`() {
        func failure(_ change: (inout VirtualStudio) -> Void) -> MeasurementFailure? {
            var studio = VirtualStudio()
            change(&studio)
            guard case .failure(let failure)? = studio.play(seed: 3).outcome else { return nil }
            return failure
        }
        for delay in [-400_000.0, 395_000, 405_000] {
            #expect(failure { $0.delay = delay } == .wholeBeat)
        }
        if case .scattered = failure({ $0.spread = 6_000 }) {} else { Issue.record("6 ms of spread") }
    }

    @Test
    func `a driver that does not say when samples were taken is told so`() {
        var studio = VirtualStudio()
        (studio.hasStamps, studio.beatsPerMinute) = (false, 250)
        #expect(studio.play(seed: 6).outcome == .failure(.noStamps))
    }

    @Test
    func `a fast clock is moved by one amount to and fro`() {
        var studio = VirtualStudio()
        studio.beatsPerMinute = 190
        let shifts = studio.play(seed: 4).shifts
        #expect(shifts.count == 2 && shifts.contains(0) && shifts.allSatisfy { $0 <= 0.4 * 60e6 / 190 / 24 })
    }

    @Test
    func `sound lost before the first beat changes nothing, and later ends it`() throws {
        var studio = VirtualStudio()
        (studio.gap, studio.start, studio.spread) = ((100, 6), 12e6, 300)
        let result = try studio.play(seed: 5).outcome!.get()
        #expect(abs(result.delay - studio.delay) < 200)
        studio.gap = (100, 18)
        #expect(studio.play(seed: 5).outcome == .failure(.lost))
    }

    /// Three minutes of sound for each seed, one calibration of each kind and more; `make listen-trials` has 100 hours.
    @Test(arguments: Seeds.standing(1...2))
    func `noise, speech and other music never lead to an offset`(seed: UInt64) {
        let trials = StrangerTrials(hours: 0.05, seed: seed)
        #expect(trials.offsets == [])
        #expect(trials.hits > 50 && trials.outcomes.count > 2, "\(trials.outcomes)")
    }
}
