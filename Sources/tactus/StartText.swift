import ControlServer
import GatewayStatus

/// What a run prints when it has started.
enum StartText {
    /// A line for the panel and one for each output.
    ///
    /// - Parameters:
    ///   - status: after the first look at the ports.
    ///   - panel: the panel's URLs; none without HTTP.
    ///   - wantsToken: whether the panel asks for a token.
    /// - Returns: the lines, without line ends.
    static func lines(_ status: Status, panel: [String], wantsToken: Bool) -> [String] {
        var lines: [String] = []
        if !panel.isEmpty {
            lines.append("Panel: \(panel.joined(separator: ", "))\(wantsToken ? " (asks for the token)" : "")")
        }
        return (lines + status.outputs.map(output)).map(\.withoutControls)
    }

    private static func output(_ output: Status.Output) -> String {
        let profile = output.profile.map { ", profile \($0)" } ?? ""
        return "Output: \(output.name), \(output.port ?? "not connected")\(profile)"
    }
}
