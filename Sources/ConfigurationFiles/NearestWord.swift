/// Finds the word that a user probably meant.
package enum NearestWord {
    /// The existing word most similar to a written one, if it is similar enough.
    ///
    /// - Parameters:
    ///   - word: as written.
    ///   - words: the existing ones.
    /// - Returns: the shortest of which the written word is a part after a hyphen; or else the first of the most
    ///   similar, at most a third of its letters away; or else the only one with the same beginning. Ignores case, and
    ///   treats `_` as `-`.
    package static func to(_ word: String, among words: some Sequence<String>) -> String? {
        let written = letters(of: word)
        guard !written.isEmpty, written.count <= 64 else { return nil }
        let whole = words.filter {
            letters(of: $0).split(separator: "-").dropFirst().contains { $0.elementsEqual(written) }
        }
        if written.count >= 3, let shortest = whole.min(by: { $0.count < $1.count }) { return shortest }
        var best: (word: String, distance: Int)?
        for candidate in words {
            let wanted = letters(of: candidate)
            let distance = steps(from: written, to: wanted)
            guard distance <= max(1, max(written.count, wanted.count) / 3), distance < wanted.count else { continue }
            if best == nil || distance < best?.distance ?? 0 { best = (candidate, distance) }
        }
        if let best { return best.word }
        let longer = words.filter { letters(of: $0).starts(with: written) }
        return written.count >= 3 && longer.count == 1 ? longer.first : nil
    }

    private static func letters(of word: String) -> [Character] {
        word.lowercased().map { $0 == "_" ? "-" : $0 }
    }

    /// Number of letters to remove, insert, replace or swap with a neighbor between two words.
    static func steps(from first: [Character], to second: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for (row, letter) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                let change = last[column] + (letter == other ? 0 : 1)
                var least = min(change, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            beforeLast = last
            last = current
        }
        return last[second.count]
    }
}
