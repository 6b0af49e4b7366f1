/// A user's changes to a device's profile, as written; see ``Profile/applying(_:)``.
package struct ProfileOverrides: Hashable, Sendable {
    var clock: YAMLNode?
    var transport: YAMLNode?
    var timeCode: YAMLNode?

    /// No changes.
    package init() {}
}

extension Profile {
    /// This profile with a user's changes.
    ///
    /// - Parameter overrides: already checked on their own.
    /// - Returns: the profile with the written keys replaced.
    /// - Throws: changes that contradict the rest of the profile.
    package func applying(_ overrides: ProfileOverrides) throws(Mistakes) -> Profile {
        var profile = self
        var reading = Reading()
        overrides.clock?.read(into: &profile, keys: Self.clockKeys, section: "'clock'", &reading)
        overrides.transport?.read(into: &profile, keys: Self.transportKeys, section: "'transport'", &reading)
        overrides.timeCode?.read(into: &profile, keys: TimeCodeSection.keys, section: "'time-code'", &reading)
        reading.mistakes += profile.contradictions(in: overrides.transport)
        reading.mistakes += profile.timeCodeMistakes(in: overrides.timeCode)
        reading.mistakes += profile.pulseMistakes(in: overrides.timeCode)
        guard reading.mistakes.isEmpty else { throw Mistakes(reading.mistakes) }
        profile.settle()
        return profile
    }
}
