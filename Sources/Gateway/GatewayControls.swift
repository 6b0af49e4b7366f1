internal import ConfigurationFiles
internal import Logging
internal import Synchronization

// The gateway thread's part with buttons and pedals.
extension GatewayCore {
    /// Does what has been pressed.
    func takePresses() {
        var isNews = false
        for press in controls.take() {
            var refusal: CommandRefusal?
            do {
                _ = try carryOut(press.command)
            } catch {
                refusal = error
            }
            guard controls.note(press, refusal) else { continue }
            isNews = true
            guard let refusal else { continue }
            // Once, and not again for each press that is refused for the same reason.
            log.notice(
                "control refused",
                metadata: ["port": "\(press.port)", "do": "\(press.verb.rawValue)", "error": "\(refusal)"])
        }
        if isNews { showControls() }
    }

    /// Brings controls up to date with the ports there are.
    func controlsChanged() {
        controls.update(own: inputs.own)
        showControls()
    }

    private func showControls() {
        let warnings = controls.warnings
        picture.withLock { $0.controlWarnings = warnings }
    }
}
