/// When a device that plays is stopped and placed anew because somebody asks for it.
public enum Realignment: Hashable, Sendable, BitwiseCopyable {
    /// At the next bar.
    case atBar
    /// At the next sixteenth that it can be told of; at the next bar where it knows no song position.
    case now
}
