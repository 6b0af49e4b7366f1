internal import BeatTime

/// Numbers a leader's ticks in order of arrival, and learns how coarse they are and at which tempo they are sent.
///
/// The lines it considers are those under which every tick of a window is late by no less than nothing and no more than
/// the coarseness. While they exist, the window grows. When they do not, the tempo has changed, ticks were lost, the
/// leader has moved, or its ticks are coarser than thought; a few more ticks decide which.
struct TickTracker: Sendable {
    /// A change of earlier tick numbers: all ticks from a number on have numbers higher by this.
    struct Renumbering {
        var first: Int64
        var distance: Int64
    }

    private(set) var history = TickHistory()
    /// The line, from the third tick on.
    private(set) var line: LeaderLine?
    /// Number of the next arrival, unless ticks were lost.
    private(set) var nextNumber: Int64 = 0
    /// Number of lost ticks.
    private(set) var lost: Int64 = 0
    /// Number of arrivals that were no ticks of their own.
    private(set) var extra: Int64 = 0
    /// Longest wait of a tick, in microseconds.
    private(set) var coarseness = 0.0
    /// Whether too few ticks have come to know the coarseness.
    private(set) var isLearning = true
    /// The narrowest strip that holds the ticks of the window.
    private var strip = (slope: 0.0, width: 0.0)
    private var hull = DelayStrip()
    private var (newerHull, olderHull) = (DelayStrip(), DelayStrip())
    /// Number of the first tick that did not fit, while that is not decided.
    private var doubtedFrom: Int64?
    /// Width of the strip when it last grew, and ticks since.
    private var rest = (width: 0.0, ticks: 0)
    /// Ticks since the coarseness was last found too small.
    private var age = 0
    /// Ticks for which a tick that does not fit is taken for the same change of tempo that was noticed just now.
    private var changing = 0
    /// The leader's period, in microseconds, if regular miscounts have shown that it is about a tick long; else 0.
    private var foundPeriod = 0.0
    /// Ticks since the coarseness was last reviewed.
    private var sinceReview = 0
    /// Where single ticks were found lost last, or too many, all of one kind.
    private var miscounts: [(number: Int64, by: Int64)] = []
    private var isLossUnknown = false
    private var mayMove = false
    /// Whether the former tempo holds while the ticks since a Start agree with it.
    private var holdsTempo = false
    private var renumbering: Renumbering?

    /// The coarseness that the user has told, in microseconds; 0 if none.
    var period = 0.0 { didSet { coarseness = max(coarseness, period) } }

    /// Possible periods in microseconds, for leaders between 17 and 1100 BPM.
    static let plausiblePeriods = 2_270.0...147_000.0
    /// Greatest coarseness of a clock at any tempo, in microseconds.
    static let mostCoarse = 110_000.0
    /// Longest gap in which lost ticks are counted, in microseconds; after a longer one the line begins anew.
    ///
    /// It is fifteen times as long if some are known to be lost.
    private static let longestGap: Int64 = 4_000_000
    /// Ticks before anything is judged.
    static let fewest = 24
    /// Ticks after a Start from which the tempo is known better than from those before it.
    private static let longestHold = 96
    /// Tolerance for what the strip cannot explain, in microseconds: about one byte on a DIN line.
    private static let slack = 300.0
    /// Most ticks at once that are counted as lost.
    private static let mostLost: Int64 = 96

    init() {
        miscounts.reserveCapacity(4)
    }

    /// Greatest coarseness of a clock at this tempo, in microseconds; slow clocks may have much swing.
    var mostCoarse: Double { max(Self.mostCoarse, 2 * strip.slope) }

    /// Whether the coarseness was watched for 16 beats.
    private var isKnown: Bool { age > TickHistory.capacity }

    /// Notes that an unknown number of ticks was lost before the next one.
    mutating func ticksMayBeLost() { isLossUnknown = true }

    /// Notes that the leader may begin another grid of ticks now, as many do when they start.
    mutating func gridMayMove() { mayMove = true }

    /// Forgets all about the leader but the count of its ticks, as when its clock is found to arrive twice.
    ///
    /// - Parameter number: the number of the next arrival.
    mutating func beginAnew(at number: Int64) {
        extra &+= max(0, nextNumber &- number)
        nextNumber = number
        forgetCoarseness()
        history = TickHistory()
        line = nil
    }

    /// Counts an arrival that was no tick of its own.
    mutating func leaveOut() { extra &+= 1 }

    private mutating func forgetCoarseness() {
        (coarseness, foundPeriod, isLearning, age) = (period, 0, true, 0)
        begin()
    }

    /// Begins a new line with what the history has.
    private mutating func begin() {
        (doubtedFrom, rest, changing, holdsTempo) = (nil, (0, 0), 0, false)
        miscounts.removeAll(keepingCapacity: true)
    }

    /// Decides by the time since the last one which number the next Timing Clock has.
    ///
    /// - Parameter time: when it arrived, in microseconds, within 2^53.
    mutating func arrives(at time: Int64) {
        guard history.count > 0 else { return isLossUnknown = false }
        let gap = time &- history.newest.time
        if gap < -1_000 || gap > (isLossUnknown ? 15 : 1) * Self.longestGap { restart() }
        if isLossUnknown, let line, !isLearning, history.used > 0 { skip(lostBefore(time, line)) }
        isLossUnknown = false
    }

    /// Processes a Timing Clock after ``arrives(at:)``.
    ///
    /// - Parameter arrival: its time in microseconds, within 2^53.
    /// - Returns: how earlier numbers have changed.
    mutating func arrived(at arrival: Int64) -> Renumbering? {
        renumbering = nil
        // Stamps of the kernel may be a little out of order.
        let isSwapped = history.count > 0 && (-1_000..<0).contains(arrival &- history.newest.time)
        let time = isSwapped ? history.newest.time : arrival
        let first = history.used > 0 ? history.first.time : nil
        history.append(number: nextNumber, time: time)
        nextNumber &+= 1
        if history.used > 0, history.first.time != first { fit() }
        if isLearning, history.used >= Self.fewest, moments >= 16 { isLearning = false }
        if isLearning || history.used < 4 { learn() } else { judge() }
        mayMove = false
        estimate()
        return renumbering
    }

    /// Begins a new line with the next tick; the tempo may be another.
    ///
    /// With a Start the former tempo holds until ticks show another, since the song begins with its first tick.
    private mutating func restart() {
        history.keep(newest: 0)
        begin()
        holdsTempo = mayMove && !isLearning
        if !holdsTempo { line?.forgetCertainty() }
    }

    private func lostBefore(_ time: Int64, _ line: LeaderLine) -> Int64 {
        let late = line.lateness(of: nextNumber, at: time) - coarseness / 2
        return max(0, roundedToInteger(late / line.slope))
    }

    /// Skips the numbers of lost ticks, and counts them.
    private mutating func skip(_ missing: Int64) {
        nextNumber &+= missing
        lost &+= missing
    }

    /// Number of different times in the window at which ticks came.
    private var moments: Int { Self.moments(history.ticks[history.begin...]) }

    private static func moments(_ ticks: ArraySlice<StampedTick>) -> Int {
        var count = 0
        var last = Int64.min / 2
        for tick in ticks {
            if tick.time &- last > 1_000 { count += 1 }
            last = tick.time
        }
        return count
    }

    /// Finds the strip of the window anew.
    private mutating func fit() {
        hull.take(history.ticks[history.begin...])
        strip = hull.narrowest
    }

    /// Draws lines through the newest tick, too.
    private mutating func useNewest() {
        history.useNewest()
        if history.used == 1 { hull.take(history.ticks[history.begin...]) } else { hull.add(history.newest) }
        strip = hull.narrowest
    }

    private mutating func learn() {
        useNewest()
        guard history.used >= 3 else { return }
        if strip.width > mostCoarse {
            history.keep(newest: 1)
            fit()
            return forgetCoarseness()
        }
        if isLearning, history.used >= 12 { coarseness = max(coarseness, strip.width) }
        (rest, doubtedFrom) = ((strip.width, 0), nil)
    }
}

/// Judging ticks by the coarseness.
extension TickTracker {
    /// Width of a strip that needs no explanation.
    private var widest: Double {
        if line?.isPeaked == true { return 1.3 * coarseness + Self.slack }
        return isKnown ? coarseness + max(0.03 * coarseness, 100) : 1.15 * coarseness + Self.slack
    }

    private mutating func judge() {
        age += 1
        let widest = widest
        let (low, high) = hull.edges(strip.slope)
        let late = hull.lateness(history.newest, strip.slope)
        let isEarly = late < low - max(0, widest - (high - low))
        let latest = low + max(strip.width, coarseness * (age < 96 ? 1.6 : 1.35)) + Self.slack
        if mayMove, isEarly || late > latest, history.asideCount == 0 { return move(to: 1) }
        let isFarEarly = late < low - 0.5 * strip.slope && coarseness < strip.slope / 3 && doubtedFrom == nil
        if late > latest || isFarEarly && history.used >= Self.fewest || isEarly && history.asideCount > 0 {
            history.leaveNewestAside()
            judgeAside(low)
            return
        }
        useNewest()
        take(isEarly: isEarly, widest)
    }

    private mutating func take(isEarly: Bool, _ widest: Double) {
        if strip.width <= widest {
            doubtedFrom = nil
        } else if mostSeen <= widest {
            // Ticks near each other do not show so much, so the tempo has changed, or drifts.
            doubtedFrom = nil
            forgetOldest()
        } else if changing > 0 || isKnown && doubtedFrom == nil && isEarly {
            // The coarseness is well known, so the oldest ticks were sent at another tempo.
            let (before, wasChanging) = (history, changing > 0)
            changeTempo()
            if !wasChanging, history.used < Self.fewest, coarseness > strip.slope / 8 {
                // But one tick of a coarse clock is no reason to believe so few.
                history = before
                fit()
                changing = 0
                doubt()
            }
        } else {
            doubt()
        }
        let growth = isKnown ? 1.000_5 * rest.width + 1 : 1.01 * rest.width + 10
        rest = strip.width > growth ? (strip.width, 0) : (rest.width, rest.ticks + 1)
        changing = max(0, changing - 1)
        // It grows only when the strip has stopped growing, or a change of tempo could hide in it.
        if rest.ticks >= 24, doubtedFrom == nil, changing == 0 {
            let most = min(isKnown ? 1.02 * coarseness : mostCoarse, mostSeen, mostCoarse)
            coarseness = max(coarseness, min(strip.width, most))
            rest.ticks = 0
        }
        sinceReview += 1
        if history.ticks.count - history.begin == TickHistory.capacity, sinceReview >= 96 {
            sinceReview = 0
            coarseness = max(period, foundPeriod, min(coarseness, 1.05 * strip.width + 100, mostSeen + Self.slack))
            rest.width = strip.width
        }
    }

    /// The greatest coarseness that ticks near each other may show, for which a slow drift of the tempo cannot be taken.
    private var mostSeen: Double {
        mutating get {
            let ticks = history.ticks
            var most = 0.0
            for start in stride(from: history.begin, to: ticks.count, by: 48) {
                let near = ticks[start..<min(start + 48, ticks.count)]
                newerHull.take(near)
                let width = newerHull.narrowest.width
                let sums = ResidualSums(near, near: strip.slope)
                // Ticks that wait for steps of nearly half their distance are late by two amounts for many beats, of which
                // the strip shows the difference: half of the longest wait.
                let hasFewLevels = width < 2.9 * sums.deviation
                most = max(most, sums.longestJump, (hasFewLevels ? 2 : 1.25) * width)
            }
            return most
        }
    }

    /// Decides what ticks mean that came too early, or a little too late, for a coarseness that is not well known.
    private mutating func doubt() {
        let from = doubtedFrom ?? history.newest.number
        doubtedFrom = from
        let ticks = history.ticks
        var split = ticks.count - 1
        while split > history.begin, ticks[split - 1].number >= from { split -= 1 }
        let count = ticks.count - split
        if count >= 6, count % 3 == 0, split - history.begin >= 6, Self.moments(ticks[split...]) >= 4,
            isOtherTempo(ticks[split...], than: ticks[history.begin..<split])
        {
            return changeTempo()
        }
        if count >= 96 || count >= 48 && rest.ticks >= 24 { growCoarser() }
    }

    /// The coarseness was too small.
    private mutating func growCoarser() {
        coarseness = max(coarseness, min(strip.width, mostSeen, mostCoarse))
        (doubtedFrom, age) = (nil, 0)
        if strip.width > widest { forgetOldest() }
    }

    /// Whether no line of one slope can explain two parts of the ticks, even with a greater coarseness.
    private mutating func isOtherTempo(
        _ newer: ArraySlice<StampedTick>, than older: ArraySlice<StampedTick>
    ) -> Bool {
        newerHull.take(newer, includingAside: true)
        let new = newerHull.narrowest
        guard new.width <= 2 * (coarseness + Self.slack) else { return false }
        olderHull.take(older)
        let old = olderHull.narrowest
        let widest = max(coarseness, new.width, min(old.width, 1.35 * coarseness))
        let tolerated = (isKnown ? 1.4 : 1.65) * widest + Self.slack
        let newSlopes = newerHull.slopes(within: tolerated, around: new.slope)
        let oldSlopes = olderHull.slopes(within: max(tolerated, old.width), around: old.slope)
        return !newSlopes.overlaps(oldSlopes)
    }

    /// Decides what ticks mean that came too late, or far too early.
    private mutating func judgeAside(_ low: Double) {
        guard let from = history.asideFrom else { return }
        let aside = history.ticks[from...]
        let count = aside.count
        let fewest = coarseness < strip.slope / 8 ? 3 : 6
        guard count >= fewest, count % 3 == 0, Self.moments(aside) >= min(4, fewest) else { return }
        let errors = aside.suffix(12).map { hull.lateness($0, strip.slope) - low }.sorted()
        let (least, most) = (errors[0], errors[errors.count - 1])
        let middle = (least + most) / 2
        let before = history.ticks[history.begin..<from].suffix(12).lazy.filter { !$0.isAside }
            .map { [hull, strip] in hull.lateness($0, strip.slope) - low }
        let usual = ((before.min() ?? 0) + (before.max() ?? coarseness)) / 2
        let tolerated = 1.5 * coarseness + 2 * Self.slack
        // In the burst after a stall, lateness falls with each arrival until they are in time again.
        let fall = hull.lateness(aside[from], strip.slope) - hull.lateness(history.newest, strip.slope)
        if fall > tolerated, middle > 0, count < 36 { return }
        if isOtherTempo(aside, than: history.ticks[history.begin..<from]) {
            history.useAside()
            return changeTempo()
        }
        guard count >= 6, most - least <= tolerated else {
            if count >= 48 { move(to: count) }
            return
        }
        let step = middle - usual
        let missing = roundedToInteger(step / strip.slope)
        let rest = abs(step - Double(missing) * strip.slope)
        // A single tick too few or too many may also be a step that ticks wait for, if it is about as long as they are
        // apart.
        let isCountable = abs(missing) > 1 || age >= 192
        if missing != 0, abs(missing) <= Self.mostLost, coarseness < 0.5 * strip.slope, isCountable,
            rest < max(0.2 * strip.slope, 0.6 * coarseness)
        {
            renumber(from, by: missing, low, usual)
        } else if isKnown || abs(middle) > min(Self.mostCoarse, 2 * strip.slope) {
            if count >= 12 { move(to: count) }
        } else if count >= 36 {
            history.useAside()
            fit()
            self.rest = (strip.width, 0)
            growCoarser()
        }
    }

    /// Corrects the numbers of the newest ticks, because ticks were lost before them, or one was none.
    private mutating func renumber(_ from: Int, by missing: Int64, _ low: Double, _ usual: Double) {
        let first = history.ticks[from].number
        if isRegular(first, missing) {
            // Ticks wait for steps about as long as they are apart, so none was lost.
            let count = Int64(miscounts.count) * missing
            if missing > 0 { lost &-= count } else { extra &+= count }
            foundPeriod = min(strip.slope, mostCoarse)
            (coarseness, age) = (max(coarseness, foundPeriod), 0)
            renumberNewest(from: first, by: -count)
            move(to: history.asideCount)
        } else {
            if missing > 0 { lost &+= missing } else { extra &-= missing }
            renumberNewest(from: first, by: missing)
            // Those between several faults have numbers of their own.
            for index in (from..<history.ticks.count - 1).reversed() {
                let late = hull.lateness(history.ticks[index], strip.slope) - low - usual
                history.move(index, by: roundedToInteger(late / strip.slope))
            }
            let latest = low + max(strip.width, coarseness) + 5 * Self.slack
            let (hull, slope) = (hull, strip.slope)
            history.useAside { (low - 5 * Self.slack...latest).contains(hull.lateness($0, slope)) }
            fit()
        }
        rest = (strip.width, 0)
    }

    /// Notes a miscount, and tells whether it is the fourth of its kind at the same distance.
    private mutating func isRegular(_ number: Int64, _ missing: Int64) -> Bool {
        let isAlike = abs(missing) == 1 && miscounts.last.map { $0.by == missing } ?? true
        if !isAlike { miscounts.removeAll(keepingCapacity: true) }
        guard abs(missing) == 1 else { return false }
        if miscounts.count == 3 {
            let gaps = (0..<3).map { ($0 < 2 ? miscounts[$0 + 1].number : number) &- miscounts[$0].number }
            if gaps.allSatisfy({ abs($0 &- gaps[0]) <= gaps[0] / 8 }) { return true }
            miscounts.removeFirst()
        }
        miscounts.append((number, missing))
        return false
    }

    private mutating func renumberNewest(from first: Int64, by distance: Int64) {
        guard distance != 0 else { return }
        var index = history.ticks.count
        while index > 0, history.ticks[index - 1].number >= first { index -= 1 }
        history.renumber(from: index, by: distance)
        nextNumber &+= distance
        renumbering = Renumbering(first: first, distance: distance)
    }

    /// Draws lines through the newest ticks only, because the leader has paused or moved; the coarseness stays.
    private mutating func move(to count: Int) {
        history.leaveNewestAside()
        history.useAside()
        history.keep(newest: count)
        begin()
        holdsTempo = mayMove
        fit()
        line?.move(to: history.newest, coarseness)
    }

    /// Draws lines through the newest ticks, and as many older ones as fit, because the tempo has changed.
    private mutating func changeTempo() {
        doubtedFrom = nil
        fit()
        forgetOldest()
        changing = 72
    }

    /// Leaves out the oldest ticks until the rest fit into the coarseness.
    private mutating func forgetOldest() {
        let widest = (line?.isPeaked == true ? 1.15 : 1) * coarseness + 20
        while isLongEnough, strip.width > widest {
            for _ in 0...(history.used / 48) { history.dropOldest() }
            fit()
        }
        rest = (strip.width, 0)
    }

    /// Whether the window has more than the fewest ticks from which a tempo can be told.
    private var isLongEnough: Bool {
        history.used > 6 && Double(history.newest.time &- history.first.time) > 7 * coarseness
    }

    /// Whether the former tempo still holds after a Start.
    private mutating func stillHolds() -> Bool {
        guard holdsTempo, let line else { return false }
        let (low, high) = hull.edges(line.slope)
        holdsTempo = history.used < Self.longestHold && high - low <= widest
        return holdsTempo
    }

    private mutating func estimate() {
        if stillHolds() {
            line?.place(hull, coarseness)
            return
        }
        guard history.used >= 3 else {
            line?.move(to: history.newest, coarseness)
            return
        }
        // Just after a change the window may hold too little, or still something from before.
        let isTold =
            isLearning
            || history.used >= 6 && (changing == 0 || strip.width <= max(widest, 0.1 * strip.slope))
                && Double(history.newest.time &- history.first.time) >= 4 * coarseness
        guard isTold || line == nil else {
            // The former tempo holds until the new window tells another.
            line?.forgetCertainty()
            line?.move(to: history.newest, coarseness)
            return
        }
        let fitted = LeaderLine(
            history, hull, strip, coarseness: max(coarseness, strip.width), former: line)
        guard Self.plausiblePeriods.contains(fitted.slope) else {
            line = nil
            history.keep(newest: 1)
            fit()
            return forgetCoarseness()
        }
        line = fitted
    }
}
