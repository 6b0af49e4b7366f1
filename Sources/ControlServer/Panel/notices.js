// Short notices of what others did, and of machines, peers and networks that come and go; and what lasts.

class Notices {
  /** How long each is shown, in milliseconds; less while others wait. */
  static #time = 6000;
  static #timeOfMany = 2500;
  /** How long a tempo must rest before it is told, in milliseconds. */
  static #rest = 400;
  #before = null;
  #running = 0;
  #quietUntil = 0;
  /** The kinds, the most important first. */
  static #kinds = ["gone", "lost", "peers", "network", "transport", "tempo", "leader", "back"];
  /** One for each kind; the most important is shown. */
  #queue = new Map();
  /** What is shown while there is nothing else. */
  #lasting = "";
  #shown = null;
  #since = 0;
  #timer;
  #resting;
  #gone = new Set();
  #back = new Set();

  constructor(element) { this.element = element; }

  /** Keeps quiet about what this page does: call it before a command, and the result after. */
  begin() {
    this.#running += 1;
    return () => {
      this.#running -= 1;
      this.#quietUntil = performance.now() + 1000;
    };
  }

  /** Takes a status. After a lost connection, what has happened meanwhile is told; a new run has nothing to compare with. */
  take(status) {
    const before = this.#before;
    this.#before = status;
    const lasting = status.warnings.find(({ code }) => code === "link-lost")?.message.split(":")[0] ?? "";
    if (lasting !== this.#lasting) {
      this.#lasting = lasting;
      this.#add("lost", lasting);
    }
    if (before?.pid !== status.pid) return;
    const isOurs = this.#running > 0 || performance.now() < this.#quietUntil;
    this.#compareSession(before, status, isOurs);
    this.#compareMachines(before, status);
    if (status.mode !== before.mode || (status.mode === "follow" && status.follower.source !== before.follower.source)) {
      if (!isOurs) {
        this.#add("leader", status.mode === "internal" ? "No other clock leads now." : `${status.mode === "link" ? "Link" : leader()} leads now.`);
      }
    }
    if (before.link.active && status.link.active) {
      const [were, are] = [before.link.peers, status.link.peers];
      if (were !== are) this.#add("peers", `A Link peer has ${were < are ? "come" : "gone"}: ${are} now.`);
      // This computer itself is no network, and an IPv6 address comes and goes with the network's other one.
      const [old, now] = [before, status].map(({ link }) => link.interfaces.filter((one) => !/^(127\.|fe80:)/.test(one)));
      const [lost, found] = [old.filter((one) => !now.includes(one)), now.filter((one) => !old.includes(one))];
      if (found.length) this.#add("network", `Link now uses this gateway's address ${listed(found)}.`);
      else if (lost.length && now.length) this.#add("network", `Link lost this gateway's address ${listed(lost)}.`);
    }
  }

  #compareSession(before, status, isOurs) {
    const last = status.link.lastChange;
    const change = last && last.number > (before.link.lastChange?.number ?? 0) && last.followed ? last : null;
    const isLed = status.mode === "follow";
    const by = change?.origin === "peer" && change.address ? `${change.probable ? "probably " : ""}by ${change.address}`
      : change?.origin === "unknown" ? "by another peer" : isLed ? `by ${leader()}` : "by another control of this gateway";
    const isTold = change && change.origin !== "here" || !isOurs;
    if (change?.what === "joined") {
      this.#add("tempo", `Joined ${change.address ?? "a session"}: ${tempoText(change.value)} BPM`);
    } else if (change ? change.what === "tempo" : status.mode === "internal" && before.mode === "internal" && status.tempo !== before.tempo) {
      clearTimeout(this.#resting);
      const text = `Tempo ${tempoText(change?.value ?? status.tempo)} BPM, ${by}`;
      // The tempo of a clock that leads is never quite the same.
      if (isTold && !isLed) this.#resting = setTimeout(() => this.#add("tempo", text), Notices.#rest);
    }
    const isPlayed = change?.what === "play" || change?.what === "stop";
    if (isTold && (isPlayed || (status.playing !== before.playing && !isOurs))) {
      this.#add("transport", `${(isPlayed ? change.what === "play" : status.playing) ? "Play" : "Stop"}, ${by}`);
    }
  }

  #compareMachines(before, status) {
    const was = new Map(before.outputs.map((output) => [output.id, output.connected]));
    for (const output of status.outputs) {
      if (!output.enabled || (was.get(output.id) ?? false) === output.connected) continue;
      const [come, left] = output.connected ? [this.#back, this.#gone] : [this.#gone, this.#back];
      left.delete(shortName(output));
      come.add(shortName(output));
      this.#add("gone", this.#gone.size ? `${listed([...this.#gone])} disconnected.` : "");
      this.#add("back", this.#back.size ? `${listed([...this.#back])} connected.` : "");
    }
  }

  /** A newer text takes the place of an older one of its kind, and the most important is shown at once. */
  #add(kind, text) {
    if (text) this.#queue.set(kind, text);
    else this.#queue.delete(kind);
    if (this.#shown === kind && text && this.#queue.size === 1) this.#since = performance.now();
    this.#show();
  }

  #show() {
    clearTimeout(this.#timer);
    const now = performance.now();
    if (this.#shown && now - this.#since >= this.#length) {
      if (this.#shown === "gone") this.#gone.clear();
      if (this.#shown === "back") this.#back.clear();
      this.#queue.delete(this.#shown);
    }
    const kind = Notices.#kinds.find((one) => this.#queue.has(one)) ?? null;
    if (kind !== this.#shown) this.#since = now;
    this.#shown = kind;
    write(this.element, capital(kind ? this.#queue.get(kind) : this.#lasting));
    this.element.classList.toggle("bad", kind ? kind === "gone" || kind === "lost" : this.#lasting !== "");
    if (kind) this.#timer = setTimeout(() => this.#show(), Math.max(this.#since + this.#length - now, 0));
  }

  get #length() { return this.#queue.size > 1 ? Notices.#timeOfMany : Notices.#time; }
}

/** Three of some names, and the number of the others. */
const listed = (names) => names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} others` : names.join(", ");
