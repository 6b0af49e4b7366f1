import Essentials
import Glibc
import Logging
import RealTime

/// The format of log lines.
enum LogFormat: Sendable {
    /// Time, level, message and metadata, for people.
    case text
    /// Text for systemd's journal, which adds the time and takes the level as a number in front.
    case journal
    /// One JSON object per line, for programs.
    case json

    /// One line for an event, without control characters or line breaks.
    ///
    /// The time is in milliseconds since 1970.
    func line(_ event: LogEvent, label: String, metadata: Logger.Metadata, at milliseconds: Int64) -> String {
        let line =
            switch self {
            case .text: "\(Self.time(milliseconds)) \(event.level) \(Self.text(event, metadata))"
            case .journal: "<\(Self.priority(event.level))>\(Self.text(event, metadata))"
            case .json: Self.json(event, label, metadata, milliseconds)
            }
        return line.withoutControls
    }

    /// One line that stands for log lines that are lost.
    func lossLine(count: Int, at milliseconds: Int64) -> String {
        let event = LogEvent(
            level: .warning, message: "log lines lost, because nobody read them", metadata: nil, source: nil,
            file: #fileID, function: #function, line: #line)
        return line(event, label: "tactus", metadata: ["count": "\(count)"], at: milliseconds)
    }

    private static func text(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
        let fields = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\(quoted("\($0.value)"))" }
        return "\(event.message)\(fields.joined())"
    }

    private static func quoted(_ value: String) -> String { value.contains(" ") ? "\"\(value)\"" : value }

    /// The local time of day.
    private static func time(_ milliseconds: Int64) -> String {
        var (seconds, parts) = (time_t(milliseconds / 1_000), tm())
        localtime_r(&seconds, &parts)
        return timeOfDay(parts)
    }

    /// The level as a syslog priority.
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }

    private struct Line: Encodable {
        var time: String
        var level: String
        var label: String
        var message: String
        var metadata: [String: String]
    }

    private static func json(
        _ event: LogEvent, _ label: String, _ metadata: Logger.Metadata, _ milliseconds: Int64
    ) -> String {
        let line = Line(
            time: timestamp(milliseconds), level: event.level.rawValue,
            label: label, message: "\(event.message)", metadata: metadata.mapValues { "\($0)" })
        return (try? JSON.text(line)) ?? ""
    }
}

/// Writes log lines to a console.
struct ConsoleLog: LogHandler {
    let console: Console
    let format: LogFormat
    let label: String
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { all["error"] = "\(error)" }
        console.log(format.line(event, label: label, metadata: all, at: millisecondsSince1970()))
    }
}
