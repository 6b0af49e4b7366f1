import ConfigurationFiles
import Essentials
import Glibc

/// A mistake as JSON; line and column are 0 if it is about the whole file.
struct FoundMistake: Encodable {
    var file: String
    var line, column: Int
    var message: String

    init(_ mistake: Mistake) {
        (file, line, column) = (mistake.place.file, mistake.place.line, mistake.place.column)
        message = mistake.message
    }

    var mistake: Mistake { Mistake(Place(file: file, line: line, column: column), message) }
}

/// Writes lines to stderr.
func complain(_ text: String) {
    let clean = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).withoutControls }
    write("\(clean.joined(separator: "\n"))\n", to: STDERR_FILENO)
}
