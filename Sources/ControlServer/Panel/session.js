// The card that tells who is in the Link session, and who changed it.

/** When something was: the time of day, after the date if it was on another day. */
function timeOf(text) {
  const date = new Date(text);
  const time = date.toLocaleTimeString("en-GB");
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString()} ${time}`;
}

/** A change in words, such as `Tempo 128.5 probably by 192.168.1.7, 21:04:13`. */
function changeWords({ what, value, previous, origin, address, probable, followed, at }) {
  const founder = origin === "unknown" ? "a session whose founder has left" : `the session of ${address}`;
  const who = origin === "here" ? "by this gateway" : `${probable ? "probably " : ""}by ${address ?? "an unknown peer"}`;
  const deed = {
    tempo: () => `Tempo ${tempoText(value)} ${who}`, play: () => `Play ${who}`, stop: () => `Stop ${who}`,
    joined: () => `Joined ${founder}, tempo ${tempoText(previous)} to ${tempoText(value)}`,
  }[what]();
  return [deed, !followed && "not followed", timeOf(at)].filter(Boolean).join(", ");
}

class SessionCard {
  /** How often the gateway is asked while somebody is looking, in milliseconds. */
  static #interval = 2000;
  #timer;
  /** Counts the times that it was asked: only the newest answer is shown. */
  #asked = 0;

  constructor(gateway, part) {
    Object.assign(this, { gateway, part });
    disclose(part.sessionMore, part.sessionBody, () => this.#ask());
    document.addEventListener("visibilitychange", () => this.#ask());
    // There is room for it.
    if (matchMedia("(min-width: 1280px)").matches) part.sessionMore.click();
  }

  show({ lastChange }) { write(this.part.sessionNewest, lastChange ? changeWords(lastChange) : "Peers and changes"); }

  async #ask() {
    const asked = ++this.#asked;
    clearTimeout(this.#timer);
    if (this.part.sessionBody.hidden || document.hidden) return;
    try {
      const [peers, changes] = await Promise.all(["peers", "changes"].map((path) => this.gateway.ask("GET", path)));
      if (asked !== this.#asked) return;
      this.#list(peers, changes.reverse());
    } catch {
      // The page tells of a lost connection; what was heard last stays.
      if (asked !== this.#asked) return;
    }
    this.#timer = setTimeout(() => this.#ask(), SessionCard.#interval);
  }

  #list(peers, changes) {
    const { part } = this;
    const figure = (value) => value === null ? "\u2013" : microseconds(value);
    list(part.peers, peers, "li", (item, peer) => {
      const [name, place, figures] = item.children;
      const interfaces = new Set(peer.interfaces.map((one) => one.name ?? one.address));
      const words = [
        peer.program && peer.address, `on ${[...interfaces].join(", ")}`, `${tempoText(peer.tempo)} BPM`, !peer.together && "in another session",
      ];
      write(name, peer.program ?? peer.address);
      write(place, words.filter(Boolean).join(" \u00b7 "));
      write(figures, `since ${timeOf(peer.since)} \u00b7 round trip ${figure(peer.roundTripMicroseconds)} \u00b7 clock error ${figure(peer.clockErrorMicroseconds)}`);
    }, "b", "p", "p");
    list(part.changes, changes, "li", (item, change) => write(item, changeWords(change)));
    part.noPeers.hidden = peers.length > 0;
    part.noChanges.hidden = changes.length > 0;
  }
}
