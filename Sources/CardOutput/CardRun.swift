internal import ALSASequencer
internal import BeatTime
internal import CardClock
internal import ClockDispatch
internal import Pulses
internal import RealTime

/// What a sound card is to the code that plays on it; a frame is one sample of each channel.
protocol PlayedCard: ~Copyable {
    /// In Hz.
    var sampleRate: Int { get }
    var channelCount: Int { get }
    /// How many frames it holds that are not played yet.
    var bufferSize: Int { get }
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
    /// How many frames it has played, and when, in microseconds of the host time; nil if it stands still.
    mutating func report() throws(ALSAError) -> (frames: Int, at: Double)?
}

/// Keeps a card filled with what outputs play, turn by turn, and learns how fast it is.
///
/// It writes 15 to 60 ms ahead: as little as the card needs, so that a change of tempo is heard soon.
struct CardRun {
    /// Says when the card plays a frame; nil before it is started.
    private(set) var clock: CardClock?
    /// How often the card fell silent, because it was not written to in time.
    private(set) var underruns = 0
    private var player: CardPlayer
    private var block: SampleBlock
    /// How far ahead is written, in microseconds.
    private var lead = leads.lowerBound

    private static let leads = 15_000...60_000
    /// By how much more is written ahead after each underrun, in microseconds.
    private static let leadStep = 10_000

    init(_ setup: SoundCardSetup, on card: borrowing some PlayedCard & ~Copyable) {
        player = CardPlayer(setup, first: 0)
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
        clock?.add(frames: report.frames, at: report.at)
        guard let clock else { return }
        while card.written - report.frames < framesAhead(of: card) {
            block.begin(at: card.written)
            player.write(board, by: clock, into: &block)
            guard try card.write(block) else { return }
        }
    }

    /// Writes silence, and has the card begin to play it.
    private mutating func begin(_ card: inout some PlayedCard & ~Copyable) throws(ALSAError) {
        if clock != nil {
            underruns += 1
            lead = min(lead + Self.leadStep, Self.leads.upperBound)
        }
        try card.prepare()
        let first = card.written
        block.begin(at: first)
        for _ in 0..<max(1, framesAhead(of: card) / card.blockSize) { guard try card.write(block) else { break } }
        try card.start()
        player.restart(at: card.written)
        let report = try card.report() ?? (first, Double(HostTime.now().microseconds))
        if clock == nil {
            clock = CardClock(sampleRate: Double(card.sampleRate), frames: report.frames, at: report.at)
        } else {
            clock?.restart(frames: report.frames, at: report.at)
        }
    }

    private func framesAhead(of card: borrowing some PlayedCard & ~Copyable) -> Int {
        min(lead * card.sampleRate / 1_000_000, card.bufferSize - card.blockSize)
    }

    /// What has been played and left out since this was last called, output by output.
    mutating func takeCounts(_ body: (CardPlayer.Count) -> Void) { player.takeCounts(body) }
}
