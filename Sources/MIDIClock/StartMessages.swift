/// The messages that start a device.
///
/// They depend on `transport` and `realign` in its profile. At the beginning of a song:
///
/// | profile | messages |
/// |---|---|
/// | `start: start` | Start |
/// | `start: continue` | Song Position 0 and Continue |
/// | `start: continue` without `song-position` or `stop` | Continue alone |
/// | `start: continue` without `continue` | Start |
/// | `start: none` | nothing |
///
/// Later in the song:
///
/// | profile | to a stopped device | to one that plays out of place |
/// |---|---|---|
/// | `stop`, `continue` and `song-position` | Song Position and Continue | Stop, then the same |
/// | one of these missing, or `realign: restart` | as at the beginning, at a bar | Stop, then the same |
/// | `stop: false` | as at the beginning, at a bar | the same, while it plays |
/// | Continue alone at the beginning | Continue at a bar | nothing: it is left where it is |
/// | `realign: none` | as without it | nothing: it is left where it is |
/// | `start: none` | nothing | nothing |
///
/// MIDI 1.0 allows Song Position Pointer only for stopped devices, so a device that is never sent Stop never gets it. A
/// device counts as stopped when its song has stopped, and when it was just connected or has returned, whatever it did
/// meanwhile. A playing device is out of place after a step or a stall, and whenever its pulses are counted
/// differently, by new settings or by folding. When the song stops or the program ends the device is sent Stop, unless
/// `stop: false`.
enum StartMessages: Hashable, BitwiseCopyable {
    case start
    /// Continue alone: the device continues from its present place.
    case resume
    /// Song Position Pointer 0, then Continue.
    case locateTop
    /// Song Position Pointer, then Continue.
    case locate
    /// Nothing: the device gets only the clock.
    case silence

    /// Whether the device is sent its place before it moves.
    var isLocating: Bool { self == .locateTop || self == .locate }

    /// Whether the device's place is known afterwards.
    var isPlacing: Bool { self == .start || isLocating }
}

extension OutputSettings {
    /// Whether the device is told when to play; if not, it gets only the clock.
    public var takesTransport: Bool { start != .none }

    /// Whether a playing device can be stopped and placed again.
    public var canBePlaced: Bool { laterMessages.isPlacing }

    /// What starts the device at the beginning of a song.
    var topMessages: StartMessages {
        switch start {
        case .none: .silence
        case .continue where takesContinue: takesSongPosition && sendsStop ? .locateTop : .resume
        case .start, .continue: .start
        }
    }

    /// What starts the device in the middle of a song.
    var laterMessages: StartMessages {
        let isLocatable = start != .none && sendsStop && takesContinue && takesSongPosition
        return isLocatable && realign != .restart ? .locate : topMessages
    }

    /// Whether a device that plays out of place is realigned automatically.
    var isBroughtBack: Bool { realign != .none && laterMessages.isPlacing }

    /// Microseconds from the first message at the start of a song to the pulse there.
    var topLead: Int64 {
        switch topMessages {
        case .silence: 0
        case .start, .resume: lead
        case .locateTop, .locate: lead + locate
        }
    }
}
