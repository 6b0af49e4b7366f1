import ALSASequencer
import Pulses
import Simulation

@testable import CardOutput

/// A simulated card, and when each channel has gone on or off, by the card's own clock.
struct RecordedCard: PlayedCard {
    let sampleRate = 48_000
    let channelCount: Int
    let bufferSize: Int
    let periodSize = 240
    let blockSize = 48
    private(set) var written = 0
    /// The present time in microseconds of the host time.
    var now = 5_000_000.0
    /// Whether it has been unplugged.
    var isGone = false
    /// Whether it does not begin to play.
    var standsStill = false
    /// How many frames are on their way from its buffer.
    var onTheWay = 0
    private(set) var rises: [[Double]]
    private(set) var falls: [[Double]]
    private var card: VirtualCard
    private var isRunning = false
    private var isStarted = false
    /// How many frames had been written when it was made ready to be started.
    private var preparedAt = 0
    private var last: [Float]

    init(_ card: VirtualCard, channels: Int = 2, bufferSize: Int = 4_800) {
        (self.card, channelCount, self.bufferSize) = (card, channels, bufferSize)
        (rises, falls) = (Array(repeating: [], count: channels), Array(repeating: [], count: channels))
        last = Array(repeating: 0, count: channels)
    }

    /// Frames played so far, with a fraction.
    private var played: Double { (now - card.time(ofFrame: 0)) / (card.time(ofFrame: 1) - card.time(ofFrame: 0)) }

    private mutating func look() throws(ALSAError) {
        guard !isGone else { throw ALSAError(operation: "card", code: -19) }
        if isRunning, played >= Double(written) { isRunning = false }
    }

    mutating func write(_ block: borrowing SampleBlock) throws(ALSAError) -> Bool {
        try look()
        if isStarted, !isRunning { return false }
        for frame in 0..<blockSize {
            for channel in 0..<channelCount {
                hear(block.samples[frame * channelCount + channel], channel, written + frame)
            }
        }
        written += blockSize
        return true
    }

    /// An edge within the stretch of a sample shows as a level in between.
    private mutating func hear(_ sample: Float, _ channel: Int, _ frame: Int) {
        defer { last[channel] = sample }
        let begin = Double(frame) - 0.5
        if last[channel] == 0, sample > 0 {
            rises[channel].append(card.time(ofFrame: begin + 1 - Double(sample)))
        } else if last[channel] == 1, sample < 1 {
            falls[channel].append(card.time(ofFrame: begin + Double(sample)))
        }
    }

    mutating func prepare() throws(ALSAError) {
        try look()
        // What was heard of a pulse is cut off.
        for channel in last.indices where last[channel] > 0 {
            falls[channel].append(card.time(ofFrame: Double(written)))
            last[channel] = 0
        }
        (isStarted, preparedAt) = (false, written)
    }

    mutating func start() throws(ALSAError) {
        try look()
        (isStarted, isRunning) = (true, true)
        card.stall(now - card.time(ofFrame: Double(preparedAt)))
    }

    mutating func report() throws(ALSAError) -> CardReport? {
        try look()
        guard isRunning, !standsStill else { return nil }
        let report = card.report(at: now)
        // USB cards take frames from the buffer some time before they play them.
        return CardReport(frames: report.frames, at: report.at, waiting: max(0, written - report.frames - onTheWay))
    }

    /// It stands still for a time, in microseconds, and then goes on as if nothing had been.
    mutating func pause(_ microseconds: Double) {
        now += microseconds
        card.stall(microseconds)
    }

    /// How late a thread wakes, in microseconds.
    mutating func lateness() -> Double { card.lateness() }
}
