/// The messages that set a device going.
///
/// What its profile says of `transport` and `realign` decides which they are, and each combination has its meaning:
///
/// | a device with | at the top of a song | later, standing still | playing, but out of place |
/// |---|---|---|---|
/// | `start: start` | Start | as below | as below |
/// | `start: continue` | Song Position 0 and Continue | as below | as below |
/// | the same without `song-position` or `stop` | Continue alone | that, at a bar | left where it is |
/// | the same without `continue` | Start | Start at a bar | Start at a bar |
/// | `start: none` | nothing | nothing | left where it is |
/// | `stop`, `continue` and `song-position` | as above | Song Position and Continue | Stop, then the same |
/// | one of these missing, or `realign: restart` | as above | as at the top, at a bar | Stop, then the same |
/// | `stop: false` | as above | as at the top, at a bar | Start at a bar, in full run |
/// | `realign: none` | as above | as above | left where it is |
///
/// Song Position Pointer is for devices that stand still (MIDI 1.0), so one that is never stopped is never sent it.
/// A device stands still when its song has stopped, when it has just come, and when it has come back, whatever it did
/// meanwhile. One that plays is out of place after a jump, a stall, and whenever its pulses are counted otherwise: by
/// other settings, or folded. When the song stops or the program ends the device is sent Stop, unless `stop: false`.
enum Cue: Hashable, BitwiseCopyable {
    case start
    /// Continue alone: the device goes on from wherever it stands.
    case resume
    /// Song Position Pointer 0, then Continue.
    case locateTop
    /// Song Position Pointer, then Continue.
    case locate
    /// Nothing: the device hears the clock alone.
    case silence

    /// Whether the device is told its place before it moves.
    var isLocating: Bool { self == .locateTop || self == .locate }

    /// Whether it is known afterwards where the device is.
    var isPlacing: Bool { self == .start || isLocating }
}

extension OutputSettings {
    /// Whether the device is told when to play; if not, it hears the clock alone.
    public var takesTransport: Bool { start != .none }

    /// Whether the device, playing, can be stopped and placed anew.
    public var canBePlaced: Bool { laterCue.isPlacing }

    /// What sets the device going at the top of a song.
    var topCue: Cue {
        switch start {
        case .none: .silence
        case .continue where takesContinue: takesSongPosition && sendsStop ? .locateTop : .resume
        case .start, .continue: .start
        }
    }

    /// What brings the device into a song that plays already.
    var laterCue: Cue {
        let isLocatable = start != .none && sendsStop && takesContinue && takesSongPosition
        return isLocatable && realign != .restart ? .locate : topCue
    }

    /// Whether a device that plays out of place is brought back, unasked.
    var isBroughtBack: Bool { realign != .none && laterCue.isPlacing }

    /// Microseconds from the first message of a cue at the top to the pulse there.
    var topLead: Int64 {
        switch topCue {
        case .silence: 0
        case .start, .resume: lead
        case .locateTop, .locate: lead + locate
        }
    }
}
