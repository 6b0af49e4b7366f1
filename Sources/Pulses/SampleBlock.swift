/// Samples that a card plays next: of each frame one for every channel, with full scale 1.
package struct SampleBlock: Sendable {
    /// The number of the first frame.
    package private(set) var first = 0
    package let frameCount: Int
    package let channelCount: Int
    package private(set) var samples: [Float]

    package init(frameCount: Int, channelCount: Int) {
        (self.frameCount, self.channelCount) = (frameCount, channelCount)
        samples = Array(repeating: 0, count: frameCount * channelCount)
    }

    /// The numbers of its frames.
    package var frames: Range<Int> { first..<first + frameCount }

    /// Makes it a silent block that begins with another frame.
    package mutating func begin(at frame: Int) {
        first = frame
        for index in samples.indices { samples[index] = 0 }
    }

    /// A sample, by its channel, counted from 0, and the number of its frame.
    package subscript(channel: Int, frame: Int) -> Float {
        get { samples[(frame - first) * channelCount + channel] }
        set { samples[(frame - first) * channelCount + channel] = newValue }
    }
}
