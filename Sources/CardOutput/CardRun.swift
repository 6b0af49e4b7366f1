internal import ALSASequencer
internal import CardClock
internal import ClockDispatch
internal import Glibc
internal import Pulses

/// What a sound card is to the code that plays on it; a frame is one sample of each channel.
protocol PlayedCard: ~Copyable {
    /// In Hz.
    var sampleRate: Int { get }
    var channelCount: Int { get }
    /// How many frames it holds that are not played yet.
    var bufferSize: Int { get }
    /// How many frames it takes from there at a time.
    var periodSize: Int { get }
    /// Number of frames in a block: a millisecond.
    var blockSize: Int { get }
    /// How many frames have been written since it was opened.
    var written: Int { get }
    /// Writes a block.
    ///
    /// - Returns: false if the card takes nothing, since it has played everything and stands still.
    mutating func write(_ block: borrowing SampleBlock) throws(ALSAError) -> Bool
    /// Makes it ready to be written to and started, after it has played everything, or the machine has slept.
    mutating func prepare() throws(ALSAError)
    /// Begins to play what has been written.
    mutating func start() throws(ALSAError)
    /// How far it is; nil if it stands still.
    mutating func report() throws(ALSAError) -> CardReport?
}

/// How far a card is.
struct CardReport {
    /// How many frames have left it.
    var frames: Int
    /// When that was so, in microseconds of the host time.
    var at: Double
    /// How many frames wait in its buffer; others may be on their way from there.
    var waiting: Int
}

/// Keeps a card filled with what outputs play, turn by turn, and learns how fast it is.
///
/// It writes 15 to 60 ms ahead, and two of the card's periods: as little as the card needs, so that a change of tempo is
/// heard soon.
struct CardRun {
    /// Says when the card plays a frame; nil before it is started.
    private(set) var clock: CardClock?
    /// How often the card fell silent, because it was not written to in time.
    private(set) var underruns = 0
    /// How far ahead the card has been written at most, in microseconds, in steps; a sound server before it adds to that.
    private(set) var ahead: Int64 = 0
    private var player: CardPlayer
    private var block: SampleBlock
    /// How far ahead is written, in microseconds.
    private var lead = leads.lowerBound
    /// How often it was started without playing for a second, and when it was started last.
    private var starts = (count: 0, last: 0.0)

    private static let leads = 15_000...60_000
    private static let aheadStep: Int64 = 5_000
    /// By how much more is written ahead after each underrun, in microseconds.
    private static let leadStep = 10_000
    /// If the card is so far from where it should be, in microseconds, it has stood still or was moved elsewhere.
    private static let mostAstray = 100_000.0
    /// A card that is started so often and does not play is given up.
    private static let mostStarts = 20

    init(_ setup: SoundCardSetup, on card: borrowing some PlayedCard & ~Copyable) {
        player = CardPlayer(setup, first: 0, channels: card.channelCount)
        block = SampleBlock(frameCount: card.blockSize, channelCount: card.channelCount)
    }

    /// Writes what is lacking; to be called every few milliseconds.
    ///
    /// - Parameters:
    ///   - card: always the same one.
    ///   - board: the newest one.
    /// - Throws: if the card is gone.
    mutating func turn(
        _ card: inout some PlayedCard & ~Copyable, _ board: borrowing OutputBoard
    ) throws(ALSAError) {
        guard let report = try card.report() else { return try begin(&card) }
        guard let expected = clock?.time(ofFrame: Double(report.frames)), abs(report.at - expected) < Self.mostAstray
        else { return try begin(&card) }
        if report.at - starts.last > 1_000_000 { starts.count = 0 }
        clock?.add(frames: report.frames, at: report.at)
        guard let clock else { return }
        let first = card.written
        while report.waiting + card.written - first < framesAhead(of: card) {
            block.begin(at: card.written)
            player.write(board, by: clock, into: &block)
            guard try card.write(block) else { return }
        }
        let written = Int64(card.written - report.frames) * 1_000_000 / Int64(card.sampleRate)
        ahead = max(ahead, (written / Self.aheadStep + 1) * Self.aheadStep)
    }

    /// Writes lines that are off, and has the card begin to play them.
    private mutating func begin(_ card: inout some PlayedCard & ~Copyable) throws(ALSAError) {
        if clock != nil {
            underruns += 1
            lead = min(lead + Self.leadStep, Self.leads.upperBound)
        }
        starts.count += 1
        guard starts.count <= Self.mostStarts else { throw ALSAError(operation: "the card stands still", code: -EIO) }
        try card.prepare()
        block.begin(at: card.written)
        player.silence(&block)
        for _ in 0..<max(1, framesAhead(of: card) / card.blockSize) { guard try card.write(block) else { break } }
        try card.start()
        player.restart(at: card.written)
        // One that does not play yet is started again at the next turn.
        guard let report = try card.report() else { return }
        starts.last = report.at
        if clock == nil {
            clock = CardClock(sampleRate: Double(card.sampleRate), frames: report.frames, at: report.at)
        } else {
            clock?.restart(frames: report.frames, at: report.at)
        }
    }

    private func framesAhead(of card: borrowing some PlayedCard & ~Copyable) -> Int {
        min(max(lead * card.sampleRate / 1_000_000, 2 * card.periodSize), card.bufferSize - card.blockSize)
    }

    /// What has been played and left out since this was last called, output by output.
    mutating func takeCounts(_ body: (CardPlayer.Count) -> Void) { player.takeCounts(body) }
}
