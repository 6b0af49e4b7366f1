/// Facts about the kernel and its scheduling.
struct KernelFacts {
    /// The kernel's preemption; nil if unknown.
    var preemption: Preemption?
    /// Whether it can be chosen at boot.
    var isPreemptionChoosable = false
    /// Whether the system boots with GRUB, where the choice is then configured.
    var hasGRUB = false
    /// The governor of each processor that has one.
    var governors: [Int: String] = [:]
    var wakeUps = WakeUps()

    /// Lateness of this process's wake-ups.
    struct WakeUps: Hashable {
        var isRealTime = true
        var count = 0
        /// Median in microseconds.
        var median: Int64 = 0
        /// 99 % are below this, in microseconds.
        var most: Int64 = 0
        /// In microseconds.
        var maximum: Int64 = 0
    }
}

/// When the kernel gives a running thread's processor to a waiting one.
enum Preemption: String, Hashable {
    /// At the end of the running thread's system call.
    case none
    /// At certain places in a system call.
    case voluntary
    /// Nearly anytime, if the waiting thread is real-time.
    case lazy
    /// Nearly anytime.
    case full
    /// Anytime.
    case realTime = "real-time"

    /// The preemption of a kernel that is not PREEMPT_RT.
    ///
    /// - Parameters:
    ///   - version: output of `uname -v`.
    ///   - choices: the kernel's own list, `none voluntary (full)`; only root may read it.
    ///   - commandLine: the kernel's command line.
    ///   - configuration: the kernel's build configuration.
    init?(version: String, choices: String?, commandLine: String, configuration: String?) {
        let words = version.split(separator: " ")
        guard !words.contains("PREEMPT_RT") else {
            self = .realTime
            return
        }
        guard words.contains("PREEMPT_DYNAMIC") else {
            // Static; kernels without preemption do not say which of the two other kinds they are.
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
