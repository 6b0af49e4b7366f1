/// What a user wants otherwise than a device's profile says, as it is written; see ``Profile/applying(_:)``.
package struct ProfileOverrides: Hashable, Sendable {
    var clock: YAMLNode?
    var transport: YAMLNode?

    /// Nothing otherwise.
    package init() {}
}

extension Profile {
    /// This profile with what a user wants otherwise.
    ///
    /// - Parameter overrides: read, and so found right by themselves.
    /// - Returns: the profile with the keys that are written replaced.
    /// - Throws: what does not go with the rest of this profile.
    package func applying(_ overrides: ProfileOverrides) throws(Mistakes) -> Profile {
        var profile = self
        var reading = Reading()
        overrides.clock?.read(into: &profile, keys: Self.clockKeys, section: "'clock'", &reading)
        overrides.transport?.read(into: &profile, keys: Self.transportKeys, section: "'transport'", &reading)
        reading.mistakes += profile.contradictions(in: overrides.transport)
        guard reading.mistakes.isEmpty else { throw Mistakes(reading.mistakes) }
        profile.settleRealign()
        return profile
    }
}
