// The stage view: beat, tempo, play and the machines, large enough for three metres, on the whole screen.

const playWord = ({ transport, playing }) => transport === "pending" ? "Cancel" : playing ? "Stop" : "Play";
const playSign = ({ playing }) => playing ? "M6 6h12v12H6z" : "M7 4.5v15L20 12z";

/** A machine or a group in the stage view: a press mutes it, or lets it enter. The others of its buttons close by themselves. */
class Chip extends Player {
  /** How long they stay without a press, in milliseconds. */
  static #time = 10000;
  #timer;

  constructor(output) {
    super("chip", output);
    const name = shortName(output);
    this.more = this.element.children[1];
    this.more.ariaLabel = `More for ${name}`;
    this.details.querySelector("small").textContent = name;
    for (const kind of ["pointerdown", "pointerup", "keydown"]) this.details.addEventListener(kind, () => this.#wait());
  }

  fold(isOpen) {
    clearTimeout(this.#timer);
    if (!isOpen) return;
    for (const other of this.element.parentElement.querySelectorAll("[aria-expanded=true]")) if (other !== this.more) other.click();
    this.#wait();
  }

  #wait() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.details.matches(":has(.held, :focus-visible)")) this.#wait(); else this.more.click();
    }, Chip.#time);
  }
}

class Stage {
  /** WCAG allows three flashes a second; the weaker one, on the beat, is below what it counts as a flash. */
  static #mostFlashes = 3;
  #still = matchMedia("(prefers-reduced-motion: reduce)");
  #beat = null;
  #startBeat = null;
  #tempo = 0;
  #isPlaying = false;
  #awake = null;
  /** Whether this view has been on the full screen since it was opened. */
  #isFull = false;
  /** Settles once the full screen has been left; asking for it sooner fails in some browsers. */
  #left = Promise.resolve();
  /** When the last strong flash began, in milliseconds, and whether the present beat has one. */
  #strongAt = -Infinity;
  #isStrong = false;

  constructor(part, position, pulse) {
    Object.assign(this, { part, position, pulse });
    this.chips = new Rows(part.stageMachines, (output) => new Chip(output));
    const [marks, bars] = [new Marks(part.stageMarks), new Marks(part.stagePhrase)];
    pulse.show((place) => {
      if (!this.isOpen) return;
      marks.draw(place.length, place.beat, 1);
      bars.draw(pulse.phrase, pulse.inPhrase(place.bar), 1);
      this.#draw(place);
    });
    const showTap = () => {
      part.stageTap.hidden = localStorage.getItem("stageTap") !== "1";
      part.stageTaps.ariaPressed = `${!part.stageTap.hidden}`;
    };
    part.stageTaps.addEventListener("click", () => {
      localStorage.setItem("stageTap", part.stageTap.hidden ? "1" : "");
      showTap();
    });
    showTap();
    part.stageOpen.addEventListener("click", () => this.open());
    part.stageLeave.addEventListener("click", () => this.close());
    part.stageAwakeDone.addEventListener("click", () => {
      localStorage.setItem("awakeNoted", "1");
      part.stageAwake.hidden = true;
      part.stagePlay.focus();
    });
    document.addEventListener("fullscreenchange", () => {
      const isFull = document.fullscreenElement !== null;
      // It may be granted after the view was closed.
      if (isFull && !this.isOpen) this.#leave();
      else if (!isFull && this.#isFull) this.close();
    });
    document.addEventListener("visibilitychange", () => { if (this.isOpen && !document.hidden) this.#keepAwake(); });
  }

  get isOpen() { return this.part.stageView.open; }

  open() {
    if (this.isOpen) return;
    const { part } = this;
    document.body.classList.add("staged");
    part.stageSays.append(part.notice, part.told, part.ask);
    part.stageView.show();
    // It is the whole page where that is not offered, as on some phones.
    this.#left.then(() => this.isOpen && document.documentElement.requestFullscreen?.())
      .then(() => { this.#isFull = this.isOpen && Boolean(document.fullscreenElement); }).catch(() => {});
    this.#keepAwake();
    this.#beat = null;
  }

  close() {
    if (!this.isOpen) return;
    this.#isFull = false;
    const { part } = this;
    part.stageView.close();
    document.body.classList.remove("staged");
    part.says.append(part.notice);
    part.stageView.before(part.told);
    part.deck.before(part.ask);
    if (document.fullscreenElement) this.#leave();
    this.#awake?.release();
    this.#awake = null;
    part.stageOpen.focus();
  }

  #leave() { this.#left = document.exitFullscreen().catch(() => {}); }

  toggle() { if (this.isOpen) this.close(); else this.open(); }

  async #keepAwake() {
    try {
      // Offered only over HTTPS, or on this computer.
      const awake = await navigator.wakeLock.request("screen");
      if (!this.isOpen) return void awake.release();
      this.#awake?.release();
      this.#awake = awake;
    } catch {
      this.part.stageAwake.hidden = localStorage.getItem("awakeNoted") === "1";
    }
  }

  show(status) {
    const { part } = this;
    this.#tempo = status.tempo;
    this.#isPlaying = status.transport === "playing";
    this.#startBeat = status.transport === "pending" ? status.beat + status.startsInBeats : null;
    write(part.stageTempo, part.tempo.textContent);
    part.stageTempo.dataset.rest = part.tempo.dataset.rest;
    write(part.stageTransport, { stopped: "Stopped", playing: "Playing", pending: "Starts at the bar" }[status.transport]);
    write(part.stageWord, playWord(status));
    part.stageSign.setAttribute("d", playSign(status));
    this.chips.show(sorted(status).filter(({ output }) => !isGeneral(output)));
  }

  #draw(place) {
    const { length, beat, bar, now } = place;
    if (beat !== this.#beat) this.#mark(beat, now);
    const count = beat < 0 ? "\u2013" : this.#number(place);
    write(this.part.stageCount, count);
    this.part.stageCount.className = count.length > 1 ? "wide" : "";
    write(this.part.stageBar, bar ? `Bar ${bar}` : "");
    // It fades until the next beat.
    const { style, classList } = this.part.stageFlash;
    classList.toggle("strong", this.#isStrong && length > 1 && this.#tempo / 60 / length < Stage.#mostFlashes);
    style.setProperty("--fade", (this.#isPlaying && beat >= 0 ? place.fade ** 2 : 0).toFixed(3));
  }

  /** The beat, or the beats until the start. Bars of one beat have no number, so a sign changes. */
  #number({ length, beat, now }) {
    const wait = this.#startBeat === null ? 0 : Math.ceil(this.#startBeat - this.position.beat(now));
    return wait > 0 ? `${wait}` : length > 1 ? `${beat + 1}` : "\u25cf\u25cb"[Math.floor(this.position.beat(now)) & 1];
  }

  #mark(beat, now) {
    this.#beat = beat;
    // Also if somebody moves the beat about.
    this.#isStrong = beat === 0 && now - this.#strongAt > 1000 / Stage.#mostFlashes;
    if (this.#isStrong) this.#strongAt = now;
  }
}
