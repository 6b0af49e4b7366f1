package import BeatTime

/// Conversion between host time and a session's ghost time; an offset, since the slope has always been one.
package struct GhostTransform: Hashable, Sendable {
    /// Microseconds; the ghost time of host time zero.
    package var intercept: Int64

    package init(intercept: Int64) { self.intercept = intercept }

    /// The transform of a session founded now: its ghost time is zero.
    init(foundingAt now: HostTime) { intercept = 0 &- now.microseconds }

    package func ghostTime(of time: HostTime) -> GhostTime {
        GhostTime(microseconds: time.microseconds &+ intercept)
    }

    package func hostTime(of time: GhostTime) -> HostTime {
        HostTime(microseconds: time.microseconds &- intercept)
    }
}
