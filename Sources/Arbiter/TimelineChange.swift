internal import BeatTime
internal import LinkSession
internal import MIDIClock

// How the tempo map follows the Link session's timeline.
extension TempoMap {
    /// Follows a newer timeline.
    ///
    /// A change of tempo leaves the past where it was. Outputs slew after a small move of the grid. Anything else is a
    /// step.
    ///
    /// - Parameters:
    ///   - link: what the Link peer says now.
    ///   - former: what it said before.
    ///   - isNewGrid: whether the ticks so far were not the session's.
    ///   - ticksPerBar: the length of a bar.
    ///   - now: the present host time.
    mutating func follow(
        _ link: LinkView, after former: LinkView, isNewGrid: Bool, ticksPerBar: Int64, at now: HostTime
    ) {
        var newLine = TickLine(link.state.timeline, tickOrigin: line.tickOrigin)
        guard link.sessionID == former.sessionID, !isNewGrid else {
            newLine.tickOrigin = 0
            newLine.tickOrigin = Int64((line.position(at: now) - newLine.position(at: now)).rounded())
            let isSameBar = (newLine.tickOrigin - line.tickOrigin) % ticksPerBar == 0
            return changeSession(to: newLine, isSameBar: isSameBar)
        }
        // Of the session's clock, since it is measured anew.
        let correction = link.clockSteps &- former.clockSteps
        if correction != 0, abs(correction) <= line.tickLength / 2 { slew(byMicroseconds: correction) }
        if newLine.microsecondsPerBeat == line.microsecondsPerBeat {
            if !link.state.isConnected { newLine.tickOrigin = line.nearestTick(to: newLine.timeOrigin) }
            moveGrid(to: newLine)
        } else {
            changeTempo(to: newLine, around: now)
        }
    }

    /// Changes to another session: a small move if its bars fall where ours did, else a step.
    private mutating func changeSession(to newLine: TickLine, isSameBar: Bool) {
        guard newLine.microsecondsPerBeat == line.microsecondsPerBeat, isSameBar else { return step(to: newLine) }
        moveGrid(to: newLine)
    }

    /// Changes where ticks fall, at the same tempo.
    private mutating func moveGrid(to newLine: TickLine) {
        let tick = newLine.tickOrigin
        let moved = line.time(ofTick: tick).microseconds(to: newLine.time(ofTick: tick))
        guard abs(moved) <= line.tickLength / 2 else { return step(to: newLine) }
        if abs(moved) > Self.rounding { slew(byMicroseconds: moved) }
        restate(newLine)
    }

    /// Changes the tempo, from where the two lines meet.
    private mutating func changeTempo(to newLine: TickLine, around now: HostTime) {
        let ticksApart = line.position(at: now) - newLine.position(at: now)
        let apart = ticksApart * Double(newLine.microsecondsPerBeat) / Double(TickLine.ticksPerBeat)
        let growth = Double(newLine.microsecondsPerBeat) / Double(line.microsecondsPerBeat) - 1
        let age = apart / growth
        if abs(age) <= Self.oldestChange {
            return changeTempo(to: newLine, at: now.advanced(byMicroseconds: -max(0, roundedToInteger(age))))
        }
        guard abs(apart) > Double(Self.rounding) else { return changeTempo(to: newLine, at: now) }
        guard abs(apart) <= Double(newLine.tickLength) / 2 else { return step(to: newLine) }
        slew(byMicroseconds: roundedToInteger(apart))
        changeTempo(to: newLine, at: now)
    }

    /// Largest difference that rounding to microseconds makes between two forms of one line.
    private static var rounding: Int64 { 2 }
    /// A tempo change older than this, in microseconds, counts as a step to another grid.
    private static var oldestChange: Double { 1_000_000 }
}

// How the tempo map follows a MIDI clock leader.
extension TempoMap {
    /// Follows a leader's line: its tempo at once, its ticks by slewing, over up to half a beat.
    ///
    /// - Parameters:
    ///   - newLine: with the same numbering of ticks.
    ///   - now: the present host time.
    mutating func slew(to newLine: TickLine, at now: HostTime) {
        // At the line's tempo: outputs that slew over this distance are where they were at that time, even if the line
        // is much faster or slower.
        let ticks = line.position(at: now) - newLine.position(at: now)
        slew(
            byMicroseconds: roundedToInteger(
                ticks * Double(newLine.microsecondsPerBeat) / Double(TickLine.ticksPerBeat)))
        changeTempo(to: newLine, at: now)
    }
}
