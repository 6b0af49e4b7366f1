/// A line's level as samples.
///
/// Each sample is the mean level from half a frame before it to half a frame after it. So an edge between two samples is
/// told by the value of one, and the card's filter takes the signal through the middle at the right moment.
struct LevelWave: Sendable {
    private var level: Float
    /// Up to where it is written, in frames.
    private var place: Double
    /// What the sample that is not complete yet has so far.
    private var sum: Float = 0

    /// The level before the first edge, and the first frame.
    init(level: Float, first frame: Int) { (self.level, place) = (level, Self.begin(of: frame)) }

    /// Where the stretch of a sample begins.
    static func begin(of frame: Int) -> Double { Double(frame) - 0.5 }

    /// Changes the level at a place in a block, or as soon as possible if that is already written.
    mutating func change(to level: Float, at place: Double, on channel: Int, of block: inout SampleBlock) {
        hold(until: min(place, Self.begin(of: block.frames.upperBound)), on: channel, of: &block)
        self.level = level
    }

    /// Holds the level until the end of a block.
    mutating func hold(on channel: Int, of block: inout SampleBlock) {
        hold(until: Self.begin(of: block.frames.upperBound), on: channel, of: &block)
    }

    private mutating func hold(until end: Double, on channel: Int, of block: inout SampleBlock) {
        while place < end {
            let frame = Int((place + 0.5).rounded(.down))
            let next = min(end, Self.begin(of: frame + 1))
            sum += level * Float(next - place)
            place = next
            guard next == Self.begin(of: frame + 1) else { return }
            (block[channel, frame], sum) = (sum, 0)
        }
    }
}
