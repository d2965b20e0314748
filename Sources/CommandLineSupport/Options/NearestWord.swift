/// The word of `words` that someone who typed `typed` probably meant: one that it begins, or one that it differs
/// from by a slip or two (a letter missing, added, wrong, or two swapped). Nil if none is near.
package func nearestWord(to typed: String, in words: [String]) -> String? {
    if typed.utf8.count >= 2, let longer = words.first(where: { $0.hasPrefix(typed) }) { return longer }
    // What is too long for every word need not be compared with them.
    guard typed.utf8.count <= 40 else { return nil }
    let nearest = words.map { (word: $0, slips: slips(from: Array(typed.utf8), to: Array($0.utf8))) }
        .min { $0.slips < $1.slips }
    guard let nearest, nearest.slips <= 2, 2 * nearest.slips < nearest.word.utf8.count else { return nil }
    return nearest.word
}

/// The Damerau-Levenshtein distance (of adjacent swaps).
private func slips(from left: [UInt8], to right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for (row, byte) in left.enumerated() {
        var current = [row + 1]
        for (column, other) in right.enumerated() {
            let replaced = last[column] + (byte == other ? 0 : 1)
            var best = min(replaced, last[column + 1] + 1, current[column] + 1)
            if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                best = min(best, beforeLast[column - 1] + 1)
            }
            current.append(best)
        }
        beforeLast = last
        last = current
    }
    return last[right.count]
}
