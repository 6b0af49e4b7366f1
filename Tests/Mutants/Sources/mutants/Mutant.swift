/// One change of the sources that a test should notice.
struct Mutant {
    /// Target, declaration, kind and number, such as `MIDIClock TickPlanner.deviceConnected choose 1`.
    ///
    /// Survives edits elsewhere: the number counts changes of this kind within the declaration.
    let name: String
    let target: String
    /// Of type and member, such as `TickPlanner.deviceConnected`.
    let declaration: String
    let kind: Kind
    /// Of the source, below `Sources`.
    let file: String
    /// The code that changes, and what it becomes; for people.
    let before: String
    let after: String

    enum Kind: String {
        /// A comparison takes the edge in, or leaves it out; equal becomes unequal, and becomes or.
        case swap
        /// True becomes false.
        case flip
        /// A whole number becomes twice itself and one.
        case raise
        /// A condition becomes its opposite.
        case negate
        /// `? :` takes the other value.
        case choose
        /// A call or an assignment is left out.
        case drop
        case dropIf = "drop-if"
        case dropGuard = "drop-guard"
        case dropDefer = "drop-defer"
        /// A text becomes empty. Not drawn: what is only said, few tests ask.
        case text
    }
}

extension Mutant {
    /// Whether it is among what random ones are drawn from.
    var isDrawn: Bool {
        kind != .text && harmless[name] == nil && engines.contains { file.hasPrefix("\($0)/") }
    }
}

/// What is decided wrongly, and by which mutant.
let decisions: [(description: String, name: String)] = [
    ("a clock is followed while Link is on", "Arbiter Arbiter.reasonToIgnore drop-guard 1"),
    ("a status is never told", "Gateway GatewayEngine.finish drop-if 2"),
    ("a machine is let go at the wrong time", "Gateway OutputTable.freeSlots negate 2"),
    ("a machine is let go though nobody has heard of it", "Gateway OutputTable.freeSlots choose 1"),
    ("offsets are not restored", "Gateway OutputTable.add drop-if 3"),
    ("a refusal says nothing", "Gateway CommandError.problem text 1"),
    ("a machine that returns is not stopped first", "MIDIClock TickPlanner.deviceConnected choose 1"),
    ("a high tempo is not folded", "MIDIClock TempoFold.following swap 7"),
    ("Link never leaves though idle", "Gateway GatewayEngine.tendLink drop 1"),
    ("an echo is never found", "LoopGuard ProbeTest.append flip 1"),
    ("the leader leads on after Link is switched", "Arbiter Arbiter.linkSwitched drop-defer 1"),
    ("a name that means several ports is taken", "Gateway GatewayEngine.carryOut drop 10"),
]

/// Mutants that change nothing a test could see, and why; they are not drawn.
let harmless = [
    "ClockDispatch OutputThread.dispatch swap 2": "memory that is locked already is locked again",
    "ClockDispatch OutputThread.dispatch drop 2": "memory that is locked already is locked again",
    "MIDIClock LoopBack.init raise 1": "a delay is looked for in steps of a quarter tick, more or less",
    "Gateway GatewayEngine.publishBoard raise 1": "any change of the generation will do",
    "Gateway ClockSources.unsafeLeaders swap 1": "no two elements of a set are equal",
    "Gateway RawLine.open swap 7": "descriptor 0 is always open",
    "Gateway RawLine.open raise 2": "descriptor 0 is always open",
    "Gateway StateFolder.read swap 1": "descriptor 0 is always open",
    "Gateway StateFolder.read raise 1": "descriptor 0 is always open",
]

/// Folders below `Sources` that random mutants are drawn from: the engines, where decisions are made.
let engines = [
    "Arbiter", "LinkSession", "LoopGuard", "MIDIClock", "ClockDispatch", "Gateway/Engine", "Gateway/Outputs",
    "Gateway/Inputs", "Gateway/Controls", "Gateway/Ports", "Gateway/State",
]
