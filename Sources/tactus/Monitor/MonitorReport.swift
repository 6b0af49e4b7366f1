import ClockMeter
import Essentials
import Gateway

/// The result of a measurement as files: a page for people, a plot, and the figures for programs.
struct MonitorReport {
    /// The clock's name.
    var name: String
    /// What has timestamped the messages.
    var stamps: Stamps
    var figures: ClockFigures
    /// More facts about a recording or a sound card's input; nil for other sources.
    var recording: SoundFigures?

    enum Stamps: String, Encodable {
        case kernel, program, recording
        case soundCard = "sound-card"

        /// The text for a row that is called "stamped by".
        var name: String {
            switch self {
            case .kernel: "the kernel"
            case .program: "tactus"
            case .recording: "the recording's samples"
            case .soundCard: "the sound card's samples"
            }
        }
    }

    /// All results, in rows.
    var rows: [MonitorText.Row] { MonitorText.rows(figures) + (recording.map(MonitorText.rows) ?? []) }

    /// A file format, given by the file's extension.
    enum Form: String, CaseIterable {
        case html, svg, json
    }

    /// Where to write the report.
    enum Place: Hashable {
        /// `monitor.html`, `monitor.svg` and `monitor.json` in a folder.
        case folder(String)
        case file(String, Form)

        /// Parses a path: an existing folder, or a file that can be created.
        init(argument: String) throws(BadArgument) {
            if Files.isFolder(argument) {
                self = .folder(argument)
                return
            }
            let ending = Files.name(of: argument).split(separator: ".").dropFirst().last ?? ""
            guard let form = Form(rawValue: ending.lowercased()) else {
                throw BadArgument("a report is an existing folder, or a file that ends in .html, .svg or .json")
            }
            let folder = Files.folder(of: argument)
            guard Files.isFolder(folder) else {
                throw BadArgument("there is no folder \(folder)")
            }
            self = .file(argument, form)
        }
    }

    /// Writes the report.
    ///
    /// - Returns: the paths of the files written.
    /// - Throws: if a file cannot be written.
    func write(to place: Place) throws(Failure) -> [String] {
        let files: [(path: String, form: Form)] =
            switch place {
            case .folder(let folder): Form.allCases.map { ("\(folder)/monitor.\($0.rawValue)", $0) }
            case .file(let path, let form): [(path, form)]
            }
        for file in files {
            do {
                try WholeFile.replace(file.path, with: Array(text(as: file.form).utf8))
            } catch {
                throw Failure(.system, "no report at \(file.path): \(error)")
            }
        }
        return files.map(\.path)
    }

    private func text(as form: Form) throws -> String {
        switch form {
        case .html: page
        case .svg: MonitorPlot.svg(figures, of: name)
        case .json: try json + "\n"
        }
    }

    /// The figures for programs.
    var json: String {
        get throws { try JSON.text(Result(report: self)) }
    }

    private struct Result: Encodable {
        let report: MonitorReport

        private enum Key: String, CodingKey { case port, stamps, recording }

        func encode(to encoder: any Encoder) throws {
            try report.figures.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(report.name, forKey: .port)
            try container.encode(report.stamps, forKey: .stamps)
            try container.encodeIfPresent(report.recording, forKey: .recording)
        }
    }

    private var page: String {
        let rows = rows + [.init(name: "stamped by", text: stamps.name)]
        let table = rows.map { row in
            "<tr><th>\(MonitorPlot.escaped(row.name))</th><td>\(MonitorPlot.escaped(row.text))</td></tr>"
        }
        let messages = figures.transport.newest.map { "<li>\(MonitorPlot.escaped(MonitorText.message($0)))</li>" }
        let name = MonitorPlot.escaped(name)
        return """
            <!doctype html>
            <html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>\(name)</title>
            <style>
            :root { color-scheme: light dark } body { font: 16px system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
            padding: 0 1rem } th { text-align: left; padding-right: 2rem; font-weight: 500 } td, th { vertical-align: top }
            svg { width: 100%; height: auto }
            </style>
            <h1>\(name)</h1>
            <table>\(table.joined(separator: "\n"))</table>
            \(MonitorPlot.svg(figures, of: self.name))
            \(messages.isEmpty ? "" : "<h2>Transport</h2>\n<ul>\(messages.joined(separator: "\n"))</ul>")
            </html>

            """
    }
}
