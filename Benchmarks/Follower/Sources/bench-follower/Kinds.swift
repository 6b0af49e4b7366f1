/// A kind of clock, and what is asked of a follower.
struct Kind: Sendable {
    let name: String
    let delay: Delay
    var swing = 0.0
    /// Share of locked time, in percent, in which the tempo should be a possible one.
    var inside = 99.0
    /// How uneven ticks to machines may be, in milliseconds; nil if nothing is asked.
    var gap: Double? = 2.5
    /// Whether it gets a table of what happens to a clock.
    var isChanged = false

    static let all: [Kind] = frames + packets + plain + swung

    private static let frames: [Kind] = [44_100.0, 48_000, 96_000].flatMap { (rate: Double) -> [Kind] in
        [32, 64, 128, 256, 512, 1_024, 2_048].map { (frames: Int) -> Kind in
            var kind = Kind(
                name: "\(frames) frames at \(shown(rate / 1_000, 1)) kHz", delay: .frames(frames, rate: rate))
            let length = Double(frames) / rate
            kind.inside = length > 512 / 44_100.0 ? 95 : 99
            kind.gap = length > 1_024 / 44_100.0 ? nil : 2.5
            kind.isChanged = rate == 48_000 && (256...1_024).contains(frames)
            return kind
        }
    }

    private static let packets: [Kind] = [7.5, 11.25, 15, 30, 48.75].flatMap { (length: Double) -> [Kind] in
        [0, 0.03, 0.1].map { (missed: Double) -> Kind in
            let note = missed > 0 ? ", \(shown(missed * 100)) % missed" : ""
            var kind = Kind(
                name: "packets of \(shown(length, 2)) ms\(note)", delay: .packets(milliseconds: length, missed: missed))
            kind.inside = missed > 0 || length > 15 ? 95 : 99
            kind.gap = length > 15 || missed > 0.05 ? nil : missed > 0 ? 4 : 2.5
            kind.isChanged = length == 15 && missed < 0.05
            return kind
        }
    }

    private static let plain: [Kind] = [
        Kind(name: "USB frames", delay: .usb, isChanged: true), Kind(name: "DIN", delay: .din, isChanged: true),
        Kind(name: "gaussian 0.1 ms", delay: .gaussian(0.1), isChanged: true),
        Kind(name: "gaussian 0.3 ms", delay: .gaussian(0.3)),
        Kind(name: "gaussian 1 ms", delay: .gaussian(1), isChanged: true),
    ]

    private static let swung: [Kind] = [
        Kind(name: "swing, DIN", delay: .din, swing: 0.3, inside: 95, gap: nil),
        Kind(name: "swing, USB frames", delay: .usb, swing: 0.3, inside: 95, gap: nil),
        Kind(name: "swing, gaussian 0.3 ms", delay: .gaussian(0.3), swing: 0.3, inside: 95, gap: nil),
        Kind(name: "swing, 256 frames at 48 kHz", delay: .frames(256, rate: 48_000), swing: 0.3, inside: 95, gap: nil),
        Kind(name: "swing, 512 frames at 48 kHz", delay: .frames(512, rate: 48_000), swing: 0.3, inside: 95, gap: nil),
        Kind(
            name: "swing, packets of 15 ms", delay: .packets(milliseconds: 15, missed: 0), swing: 0.3, inside: 95,
            gap: nil),
    ]
}

/// A method's results over all streams of a kind.
struct Summary: Sendable {
    private(set) var locks: [Double] = []
    private var (inside, locked) = (0, 0)
    /// The worst share of locked time in which the tempo was possible, in percent, and where.
    private(set) var worstInside = (value: 100.0, at: "")
    private(set) var tempo = (value: 0.0, at: "")
    private(set) var phase = (value: 0.0, at: "")
    private(set) var gap = (value: 0.0, at: "")
    private(set) var place = (value: 0.0, at: "")
    private(set) var recovery = (value: 0.0, at: "")
    private(set) var moves = 0
    private(set) var miscounts = 0
    private var (tempoSquares, phaseSquares, count) = (0.0, 0.0, 0.0)

    mutating func add(_ trial: Trial, at place: String) {
        locks.append(trial.lock)
        inside += trial.inside
        locked += trial.locked
        let share = 100 * Double(trial.inside) / Double(max(1, trial.locked))
        if share < worstInside.value { worstInside = (share, place) }
        if trial.tempo > tempo.value { tempo = (trial.tempo, place) }
        if trial.phase > phase.value { phase = (trial.phase, place) }
        if trial.gap > gap.value { gap = (trial.gap, place) }
        if trial.place > self.place.value { self.place = (trial.place, place) }
        if trial.recovery > recovery.value { recovery = (trial.recovery, place) }
        moves = max(moves, trial.moves)
        if trial.miscount != 0 { miscounts += 1 }
        tempoSquares += trial.tempoSquares
        phaseSquares += max(0, trial.phaseSquares - trial.phaseSum * trial.phaseSum / max(1, trial.count))
        count += trial.count
    }

    /// Share of all locked time in which the tempo was possible, in percent.
    var share: Double { 100 * Double(inside) / Double(max(1, locked)) }
    /// Root mean squares of the errors of tempo and next tick, from 16 beats after the lock on.
    var tempoDeviation: Double { (tempoSquares / max(1, count)).squareRoot() }
    var phaseDeviation: Double { (phaseSquares / max(1, count)).squareRoot() }
    var neverLocked: Int { locks.count { !$0.isFinite } }
}
