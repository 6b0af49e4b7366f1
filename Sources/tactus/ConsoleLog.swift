import Foundation
import Logging

/// How log lines look.
enum LogFormat: Sendable {
    /// Time, level, message and metadata, for people.
    case text
    /// As text, for systemd's journal, which has the time and takes the level as a number in front.
    case journal
    /// One object a line, for programs.
    case json

    /// One line for an event, with nothing in it that moves a cursor or begins another line.
    func line(_ event: LogEvent, label: String, metadata: Logger.Metadata, at date: Date) -> String {
        let line =
            switch self {
            case .text: "\(Self.time(date)) \(event.level) \(Self.text(event, metadata))"
            case .journal: "<\(Self.priority(event.level))>\(Self.text(event, metadata))"
            case .json: Self.json(event, label, metadata, date)
            }
        return line.withoutControls
    }

    private static func text(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
        let fields = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\(quoted("\($0.value)"))" }
        return "\(event.message)\(fields.joined())"
    }

    private static func quoted(_ value: String) -> String { value.contains(" ") ? "\"\(value)\"" : value }

    private static func time(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return String(format: "%02d:%02d:%02d", parts.tm_hour, parts.tm_min, parts.tm_sec)
    }

    /// The levels of syslog.
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
        _ event: LogEvent, _ label: String, _ metadata: Logger.Metadata, _ date: Date
    ) -> String {
        let line = Line(
            time: date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            level: event.level.rawValue,
            label: label, message: "\(event.message)", metadata: metadata.mapValues { "\($0)" })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(line)).map { String(decoding: $0, as: UTF8.self) } ?? ""
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
        console.log(format.line(event, label: label, metadata: all, at: .now))
    }
}
