import ArgumentParser
import Essentials

/// An error that ends a command: one line for people, and an exit code for scripts.
struct Failure: Error, Hashable {
    /// Exit codes of the program; from sysexits.h where possible.
    enum Status: Int32 {
        /// The gateway understood the command but refuses it now.
        case refused = 1
        case usage = 64
        /// A profile or a configuration is wrong.
        case badFile = 65
        /// There is nothing to talk to.
        case unavailable = 69
        /// The system refused something.
        case system = 71
        case noPermission = 77

        /// A stable word for programs.
        fileprivate var code: String {
            switch self {
            case .refused: "refused"
            case .usage: "usage"
            case .badFile: "bad-file"
            case .unavailable: "unavailable"
            case .system: "system"
            case .noPermission: "no-permission"
            }
        }
    }

    var status: Status
    var text: String
    /// A stable word for programs.
    var code: String

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - status: decides the exit code.
    ///   - text: for people.
    ///   - code: the gateway's word for it; nil for that of the status.
    init(_ status: Status, _ text: String, code: String? = nil) {
        self.status = status
        self.text = text
        self.code = code ?? status.code
    }

    /// What to tell people of any error.
    static func text(of error: any Error) -> String { (error as? Failure)?.text ?? "\(error)" }
}

/// The final message and exit code after a command has failed.
struct Ending: Hashable {
    /// Whether the user asked for it, as with `--help`; it then goes to stdout.
    var isResult: Bool
    var text: String
    var exitCode: Int32

    init(_ error: any Error) {
        if let failure = error as? Failure {
            // Another gateway may send anything, and devices may have any name.
            let lines = failure.text.split(separator: "\n", omittingEmptySubsequences: false)
            let text = lines.map { String($0).withoutControls }.joined(separator: "\n")
            self.init(isResult: false, text: "tactus: \(text)", exitCode: failure.status.rawValue)
        } else if Tactus.exitCode(for: error) == .success {
            self.init(isResult: true, text: Tactus.message(for: error), exitCode: 0)
        } else {
            // The parser's messages are sentences, some of them on two lines; ours are one line in lower case.
            var message = Tactus.message(for: error).split(whereSeparator: \.isNewline).joined(separator: "; ")
            if message.hasSuffix(".") { message.removeLast() }
            let choices = MissingArgument.choices(in: message).map { ": \($0)" } ?? ""
            let text = "tactus: \(message.prefix(1).lowercased())\(message.dropFirst())\(choices)"
            self.init(isResult: false, text: text, exitCode: Failure.Status.usage.rawValue)
        }
    }

    /// The ending as text, or an error as JSON: `{"error":{"code":"…","exitCode":64,"message":"…"}}`.
    init(_ error: any Error, isJSON: Bool) {
        self.init(error)
        guard isJSON, !isResult else { return }
        let code = (error as? Failure)?.code ?? Failure.Status.usage.code
        let told = ErrorInJSON(
            error: .init(code: code, exitCode: exitCode, message: String(text.dropFirst("tactus: ".count))))
        text = (try? JSON.text(told)) ?? text
    }

    private struct ErrorInJSON: Encodable {
        var error: Content

        struct Content: Encodable {
            var code: String
            var exitCode: Int32
            var message: String
        }
    }

    private init(isResult: Bool, text: String, exitCode: Int32) {
        self.isResult = isResult
        self.text = text
        self.exitCode = exitCode
    }
}
