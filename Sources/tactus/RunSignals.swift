import Glibc
import RealTime

/// What signals make a gateway do, from its start.
///
/// Machines must not play on without a clock. Every signal that would end the process is therefore handled, except
/// SIGKILL and a fault of the output thread itself.
struct RunSignals: Sendable {
    let stop: StopRequest
    let reload: ReloadRequests

    /// Installed by the main program before anything else.
    static let taken = Result { () throws(SystemCallError) in try RunSignals() }

    private init() throws(SystemCallError) {
        Crash.waitForFinisher()
        // A file that grows too long then makes `write` fail, which is reported.
        signal(SIGXFSZ, SIG_IGN)
        let hangUp = HangUp()
        let others = Self.fatal.filter { !SignalSource.isIgnored($0) }
        stop = try StopRequest(alsoOn: others + (hangUp == .stops ? [SIGHUP] : []), isForced: true)
        reload = try ReloadRequests(on: hangUp == .reloads ? [SIGHUP] : [])
    }

    /// Other signals that end a program by default and are not faults, besides Ctrl-C, SIGTERM and SIGHUP.
    private static let fatal =
        [SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT]
        + Array(__libc_current_sigrtmin()...__libc_current_sigrtmax())
}

/// What SIGHUP means for a running gateway.
enum HangUp: Hashable {
    /// The terminal it was started on has closed.
    case stops
    /// There is no terminal, as for a service: reload configuration and profiles.
    case reloads
    /// It was started with `nohup`.
    case isIgnored

    /// Finds out what it means for this process; call it before the signal is handled.
    init() {
        // Only a process with a controlling terminal can open it by this name.
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        if terminal >= 0 { close(terminal) }
        self = SignalSource.isIgnored(SIGHUP) ? .isIgnored : terminal >= 0 ? .stops : .reloads
    }
}
