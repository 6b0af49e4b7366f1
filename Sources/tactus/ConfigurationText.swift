import ConfigurationFiles
import Essentials
import Gateway
import MIDIClock

/// Edits a configuration file as text, keeping its comments and layout.
enum ConfigurationText {
    /// A control as an item of the list `controls`.
    static func item(_ control: Control) -> String {
        let (message, port) = (control.message, control.port.value.withoutControls)
        let quoted = port.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let channel = message.channel.map { ", channel: \($0)" } ?? ""
        let tempo = control.tempo.map { ", tempo: \(text(ofTempo: $0))" } ?? ""
        let bars = control.bars.map { ", bars: \($0)" } ?? ""
        return "  - { port: \"\(quoted)\", message: { \(message.kind.rawValue): \(message.number)\(channel) }, "
            + "do: \(control.verb.rawValue)\(tempo)\(bars)\(control.isLatching ? ", latching: true" : "") }"
    }

    /// A tempo in thousandths of a BPM, as BPM.
    private static func text(ofTempo tempo: Int64) -> String { shortest(Double(tempo) / 1_000, atMost: 3) }

    /// Adds a control to a file, completely or not at all; creates the file if missing.
    ///
    /// - Throws: when the file is wrong already, uses the button for something else, has a form that cannot be changed
    ///   safely, or cannot be written.
    static func add(_ control: Control, to path: String) throws(Failure) {
        let isThere = Files.exists(path)
        let old = isThere ? try read(path) : ""
        guard let new = try adding(control, to: old, file: path) else { return }
        // A link stays a link: its target is replaced.
        do {
            try WholeFile.replace(Files.target(of: path), with: Array(new.utf8))
        } catch {
            throw Failure(.noPermission, "\(path) cannot be written: \(error)")
        }
    }

    private static func read(_ path: String) throws(Failure) -> String {
        do {
            _ = try ConfigurationFile(contentsOf: path)
            return String(decoding: try Files.bytes(of: path), as: UTF8.self)
        } catch {
            throw Failure(.badFile, "\(error)")
        }
    }

    /// A file's text with another control.
    ///
    /// - Parameters:
    ///   - control: the new one.
    ///   - text: of a valid file.
    ///   - file: its name.
    /// - Returns: the text; nil if it already has that control.
    /// - Throws: when the button is used otherwise, or the text has a form that cannot be changed safely.
    static func adding(_ control: Control, to text: String, file: String) throws(Failure) -> String? {
        let before = try? ConfigurationFile(yaml: Array(text.utf8), file: file)
        let same = before?.controls.first {
            $0.port.value.lowercased() == control.port.value.lowercased() && $0.message == control.message
        }
        if let same {
            let isOther = (same.verb, same.tempo, same.bars) != (control.verb, control.tempo, control.bars)
            guard isOther || same.isLatching != control.isLatching else { return nil }
            let number = same.tempo.map(Self.text(ofTempo:)) ?? same.bars.map { "\($0)" }
            let kind =
                (number.map { " \($0)" } ?? "") + (isOther ? "" : same.isLatching ? ", latching" : ", not latching")
            throw Failure(
                .badFile,
                "\(same.port.place): this control is already set to \(same.verb.rawValue)\(kind); delete that line first"
            )
        }
        // A file without content needs no version; one that has a control does.
        let isEmpty = text.split(separator: "\n").allSatisfy { $0.hasPrefix("#") || $0.allSatisfy(\.isWhitespace) }
        let text = isEmpty ? "version: 1\n" + text : text
        // Comments in place of the new lines show that everything else is unchanged.
        if let new = inserting(item(control), into: text), let padded = inserting("#", into: text),
            var wanted = try? ConfigurationFile(yaml: Array(padded.utf8), file: file),
            let found = try? ConfigurationFile(yaml: Array(new.utf8), file: file), let last = found.controls.last
        {
            var control = control
            control.port = Placed(control.port.value, at: last.port.place)
            wanted.controls.append(control)
            if found == wanted { return new }
        }
        throw Failure(
            .badFile,
            "\(file) is written in a form that Tactus cannot change safely; add this under 'controls:' by hand: "
                + item(control).drop { $0 == " " })
    }

    /// A file's text with another line at the end of its list `controls`, indented like the other items.
    private static func inserting(_ line: String, into text: String) -> String? {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("controls:") }) else {
            if lines.last?.isEmpty == true { lines.removeLast() }
            return (lines + ["controls:", line, ""]).joined(separator: "\n")
        }
        lines[start].replace(/^controls:\s*\[\s*\]/, with: "controls:")
        var (last, indent) = (start, String?.none)
        for index in lines.indices.dropFirst(start + 1) {
            let words = lines[index].drop { $0 == " " }
            let isItem = words.hasPrefix("- ")
            guard isItem || lines[index].first == " " || words.isEmpty || words.hasPrefix("#") else { break }
            // Comments and blank lines after the list may belong to what follows.
            guard isItem || lines[index].first == " " && !words.isEmpty && !words.hasPrefix("#") else { continue }
            last = index
            if isItem, indent == nil { indent = String(lines[index].prefix { $0 == " " }) }
        }
        lines.insert((indent ?? "  ") + line.drop { $0 == " " }, at: last + 1)
        return lines.joined(separator: "\n")
    }
}
