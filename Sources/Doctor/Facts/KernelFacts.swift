/// What was found of the kernel and of how it schedules.
struct KernelFacts {
    /// Nil if that could not be told.
    var preemption: Preemption?
    /// Whether it can be chosen when the system starts.
    var isPreemptionChoosable = false
    /// Whether the system starts by GRUB, where that choice is then written down.
    var hasGRUB = false
    /// The governor of each processor that has one.
    var governors: [Int: String] = [:]
    var wakeUps = WakeUps()

    /// How late this process's wake-ups were.
    struct WakeUps: Hashable {
        var isRealTime = true
        var count = 0
        /// What half of them stay below, in microseconds.
        var median: Int64 = 0
        /// What 99 of 100 stay below, in microseconds.
        var most: Int64 = 0
        /// In microseconds.
        var maximum: Int64 = 0
    }
}

/// When the kernel lets a waiting thread have the processor of a running one.
enum Preemption: String, Hashable {
    /// When that one's system call is over.
    case none
    /// At places in a system call.
    case voluntary
    /// Nearly at any time, if the waiting one is a real-time thread.
    case lazy
    /// Nearly at any time.
    case full
    /// At any time.
    case realTime = "real-time"

    /// Puts together which one is in force on a kernel that is not PREEMPT_RT.
    ///
    /// - Parameters:
    ///   - version: the words of `uname -v`.
    ///   - choices: the kernel's own list, `none voluntary (full)`; only root may read it.
    ///   - commandLine: what the kernel was started with.
    ///   - configuration: what it was built with.
    init?(version: String, choices: String?, commandLine: String, configuration: String?) {
        let words = version.split(separator: " ")
        guard !words.contains("PREEMPT_RT") else {
            self = .realTime
            return
        }
        guard words.contains("PREEMPT_DYNAMIC") else {
            // Static; kernels that are not pre-empted do not say which of the two others they are.
            let built = configuration.flatMap(Preemption.init(built:))
            guard let model = words.contains("PREEMPT") ? .full : built else { return nil }
            self = model
            return
        }
        let active = choices?.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("(") }
        let chosen = commandLine.split(whereSeparator: \.isWhitespace).last { $0.hasPrefix("preempt=") }
        let model =
            active.flatMap { Preemption(rawValue: String($0.dropFirst().dropLast())) }
            ?? chosen.flatMap { Preemption(rawValue: String($0.dropFirst("preempt=".count))) }
            ?? configuration.flatMap(Preemption.init(built:))
        guard let model else { return nil }
        self = model
    }

    private init?(built configuration: String) {
        let models: [(String, Preemption)] = [
            ("CONFIG_PREEMPT_RT=y", .realTime), ("CONFIG_PREEMPT=y", .full), ("CONFIG_PREEMPT_LAZY=y", .lazy),
            ("CONFIG_PREEMPT_VOLUNTARY=y", .voluntary), ("CONFIG_PREEMPT_NONE=y", .none),
        ]
        let lines = Set(configuration.split(separator: "\n").map(String.init))
        guard let found = models.first(where: { lines.contains($0.0) }) else { return nil }
        self = found.1
    }
}
