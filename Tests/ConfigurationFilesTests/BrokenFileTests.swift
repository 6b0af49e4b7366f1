import ConfigurationFiles
import Testing

/// The exact messages for wrong files: `Corpus/broken-*.txt`.
@Suite struct BrokenFileTests {
    @Test(arguments: try BrokenFile.all(in: "broken-profiles"))
    func `a wrong profile is reported with position and fix`(file: BrokenFile) {
        #expect(complaints { () throws(Mistakes) in _ = try Profile(text: file.text) } == file.complaints)
    }

    @Test(arguments: try BrokenFile.all(in: "broken-configurations"))
    func `a wrong configuration is reported with position and fix`(file: BrokenFile) {
        #expect(complaints { () throws(Mistakes) in _ = try ConfigurationFile(text: file.text) } == file.complaints)
    }
}

/// One file of the corpus: what is wrong after `===`, its lines, and the expected messages after `>>>`.
struct BrokenFile: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var text = ""
    var complaints: [String] = []

    static func all(in name: String) throws -> [BrokenFile] {
        var files: [BrokenFile] = []
        let corpus = try Folder.read("\(Folder.project)/Tests/ConfigurationFilesTests/Corpus/\(name).txt")
        for line in corpus.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("=== ") {
                files.append(BrokenFile(testDescription: String(line.dropFirst(4))))
            } else if line.hasPrefix(">>> ") {
                files[files.count - 1].complaints.append(String(line.dropFirst(4)))
            } else if !(files.last?.complaints.isEmpty == false && line.isEmpty) {
                files[files.count - 1].text += line + "\n"
            }
        }
        try #require(files.allSatisfy { !$0.complaints.isEmpty })
        return files
    }
}

/// The messages for a file; none if it is valid.
func complaints(_ read: () throws(Mistakes) -> Void) -> [String] {
    do throws(Mistakes) {
        try read()
        return []
    } catch {
        return error.description.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}

extension Profile {
    init(text: String) throws(Mistakes) { try self.init(yaml: Array(text.utf8), file: "box.yaml") }
}

extension ConfigurationFile {
    init(text: String) throws(Mistakes) { try self.init(yaml: Array(text.utf8), file: "config.yaml") }
}
