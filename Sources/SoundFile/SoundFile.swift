internal import CSndFile

/// A recording in a file: WAV, FLAC, AIFF or any other format that libsndfile reads.
package struct SoundFile: ~Copyable {
    /// Samples per second of each channel.
    package let sampleRate: Int
    package let channelCount: Int
    private let library: SoundFileLibrary
    private let file: OpaquePointer

    /// Why a file cannot be read.
    package enum Failure: Error, Hashable {
        /// libsndfile is not installed.
        case noLibrary
        /// It is not a recording, or a damaged or unknown one; the text is libsndfile's.
        case unreadable(String)
    }

    /// Number of frames read at once.
    private static let block = 4_096

    /// Opens a file.
    ///
    /// - Parameter path: path of an ordinary file.
    /// - Throws: why it cannot be read.
    package init(path: String) throws(Failure) {
        guard let library = SoundFileLibrary.shared else { throw .noLibrary }
        var info = SF_INFO()
        guard let file = library.open(path, Int32(SFM_READ), &info) else {
            throw .unreadable(library.reason(nil))
        }
        guard info.samplerate > 0, (1...1_024).contains(info.channels) else {
            _ = library.close(file)
            throw .unreadable("it has \(info.channels) channels of \(info.samplerate) samples a second")
        }
        self.library = library
        self.file = file
        sampleRate = Int(info.samplerate)
        channelCount = Int(info.channels)
    }

    deinit { _ = library.close(file) }

    /// Reads the next samples.
    ///
    /// - Parameter channels: the channels to return, counted from 0.
    /// - Returns: the next samples of each channel; empty at the end.
    /// - Throws: if the file is damaged here.
    package mutating func read(_ channels: [Int]) throws(Failure) -> [[Float]] {
        var frames = [Float](repeating: 0, count: Self.block * channelCount)
        let count = Int(library.read(file, &frames, sf_count_t(Self.block)))
        if count < Self.block, library.error(file) != 0 { throw .unreadable(library.reason(file)) }
        return channels.map { channel in
            (0..<max(0, count)).map { frames[$0 * channelCount + channel] }
        }
    }
}
