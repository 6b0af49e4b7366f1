// What must be held; and the stage lock: one press locks what could spoil a show, a long press unlocks it. Each browser has
// its own.

/** How long that is, in milliseconds. */
const HOLD = 800;

/** A button that acts on a long press where that is needed, and else on a click. */
class Hold {
  #timer;
  /** Whether a click is only the end of the press that has acted. */
  #isEnding = false;
  /** When a click without a press asked to act. */
  #asked = -Infinity;

  /** @param {{isNeeded: function(): boolean, act: function(boolean), how: function(): string, tell: function(string)}} on */
  constructor(button, on) {
    Object.assign(this, { button, on });
    button.prepend(document.createElement("i"));
    button.addEventListener("pointerdown", ({ button: which }) => { if (which === 0) this.#press(); });
    for (const kind of ["pointerup", "pointercancel", "pointerleave", "keyup", "blur"]) {
      button.addEventListener(kind, () => this.#release());
    }
    button.addEventListener("keydown", (event) => {
      if (!on.isNeeded() || button.ariaDisabled === "true" || (event.key !== " " && event.key !== "Enter")) return;
      event.preventDefault();
      if (!event.repeat) this.#press();
    });
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    button.addEventListener("keyup", (event) => { if (event.key === " " && (on.isNeeded() || this.#isEnding)) event.preventDefault(); });
    button.addEventListener("click", ({ detail }) => {
      if (this.#isEnding) return;
      if (!on.isNeeded()) return on.act(false);
      if (detail) return on.tell(on.how());
      // Assistive technology only clicks, and cannot hold. Keys do not get here while it must be held.
      const isAgain = performance.now() - this.#asked < 5000;
      this.#asked = performance.now();
      if (isAgain) on.act(true); else on.tell(on.how().replace(/hold( the lock button)?/, "press again"));
    });
  }

  #press() {
    this.#isEnding = false;
    if (!this.on.isNeeded() || this.button.ariaDisabled === "true") return;
    this.button.classList.add("holding");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isEnding = true;
      // It is let go later, and only then comes the click.
      this.button.classList.remove("holding");
      this.on.act(true);
    }, HOLD);
  }

  #release() {
    clearTimeout(this.#timer);
    this.button.classList.remove("holding");
    // The click comes right after the release, if at all.
    if (this.#isEnding) setTimeout(() => { this.#isEnding = false; }, 300);
  }
}

/** Two buttons that bend the tempo of a machine or a group, slower and faster, while one of them is held. */
class Bend {
  /** How often the bend is asked for, in milliseconds; after a second without, the gateway ends it. */
  static #interval = 300;
  /** What is asked for; 0 while none is held. */
  #percent = 0;
  /** Ends what belongs to the present hold. */
  #ending;
  #isAsking = false;

  constructor(buttons, path) {
    this.path = path;
    [...buttons].forEach((button, index) => this.#prepare(button, index ? 4 : -4));
  }

  #prepare(button, percent) {
    button.addEventListener("pointerdown", ({ button: which, pointerId }) => {
      if (which !== 0) return;
      // A finger that slides still holds it.
      button.setPointerCapture(pointerId);
      this.#hold(button, percent, pointerId);
    });
    for (const kind of ["keydown", "keyup"]) {
      button.addEventListener(kind, (event) => {
        if (event.key !== " " && event.key !== "Enter") return;
        event.preventDefault();
        if (kind === "keydown" && !event.repeat) this.#hold(button, percent, event.key);
      });
    }
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    // Assistive technology only clicks, and cannot hold: that is one request, which the gateway ends.
    button.addEventListener("click", ({ detail }) => { if (!detail) this.#send(percent); });
  }

  /** @param holder the pointer or the key that holds the button. */
  #hold(button, percent, holder) {
    if (lock.refuses(button)) return;
    this.#ending?.abort();
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    const end = ({ pointerId, key }) => { if ((pointerId ?? key ?? holder) === holder) this.#end(); };
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture", "keyup", "blur"]) button.addEventListener(kind, end, { signal });
    addEventListener("blur", end, { signal });
    document.addEventListener("visibilitychange", end, { signal });
    const timer = setInterval(() => { if (button.checkVisibility()) this.#ask(); else this.#end(); }, Bend.#interval);
    button.classList.add("held");
    signal.addEventListener("abort", () => {
      clearInterval(timer);
      button.classList.remove("held");
    });
    this.#percent = percent;
    this.#ask();
  }

  #end() {
    this.#percent = 0;
    this.#ending.abort();
    this.#send(0);
  }

  #send(percent) { return act("POST", this.path, { percent }); }

  /** Requests do not pile up on a slow network, or they would come after the button was let go. */
  async #ask() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const isDone = await this.#send(this.#percent);
    this.#isAsking = false;
    // It may have come after the request that let go.
    if (!this.#percent) this.#send(0);
    else if (!isDone) this.#end();
  }
}

class Lock {
  /** What is locked. The play button is locked too while pressing it would stop, or cancel a start. */
  static #controls = ["tempo", "slower", "faster", "tap", "stageTap", "halve", "double", "undo", "earlier", "later", "link", "sync", "quantum", "follow"]
    .map((id) => `#${id}`).join() + ", #outputs :is(button, input, select):not([aria-expanded]), .players :is(.mute, .realign, .enter, .bend)";
  #buttons = document.querySelectorAll("button.lock");
  #canStop = false;

  constructor(tell) {
    this.tell = tell;
    this.isLocked = localStorage.getItem("locked") === "1";
    for (const button of this.#buttons) this.#prepare(button);
    for (const kind of ["click", "change", "mousedown", "keydown"]) {
      document.addEventListener(kind, (event) => this.#guard(event), true);
    }
    addEventListener("storage", ({ key, newValue }) => { if (key === "locked") this.#set(newValue === "1"); });
    this.#show();
  }

  /** Takes a status: locks cards that are new, and the play button while it would stop. */
  show(status) {
    this.#canStop = status.transport !== "stopped";
    this.#show();
  }

  /** Whether a control is locked; if so, tells how to unlock. */
  refuses(control) {
    const isLocked = control.ariaDisabled === "true";
    if (isLocked) this.tell(Lock.#how);
    return isLocked;
  }

  static #how = "Locked: hold the lock button to unlock.";

  #prepare(button) {
    button.innerHTML = "<svg viewBox='0 0 24 24' aria-hidden='true'><path/></svg>";
    new Hold(button, {
      isNeeded: () => this.isLocked, how: () => Lock.#how, tell: this.tell,
      act: (isHeld) => {
        this.#set(!this.isLocked);
        if (isHeld) this.tell("Unlocked.");
      },
    });
  }

  #set(isLocked) {
    this.isLocked = isLocked;
    localStorage.setItem("locked", isLocked ? "1" : "");
    this.#show();
  }

  #show() {
    document.body.classList.toggle("locked", this.isLocked);
    for (const button of this.#buttons) {
      const label = this.isLocked ? "Locked, hold to unlock" : "Lock the controls";
      if (button.ariaLabel === label) continue;
      button.ariaLabel = button.title = label;
      button.querySelector("path").setAttribute("d", `M5 11h14v10H5zM7 11V7a5 5 0 0 1 ${this.isLocked ? "10 0v4" : "9.6-2"}`);
    }
    for (const control of document.querySelectorAll(Lock.#controls)) this.#mark(control, this.isLocked);
    for (const control of document.querySelectorAll("button.play")) this.#mark(control, this.isLocked && this.#canStop);
  }

  #mark(control, isLocked) {
    if ((control.ariaDisabled === "true") === isLocked) return;
    control.ariaDisabled = isLocked ? "true" : null;
    if ("readOnly" in control) control.readOnly = isLocked;
  }

  /** Keeps clicks from locked controls, and pointer and keys from locked lists. */
  #guard(event) {
    const control = event.target.closest?.("[aria-disabled=true]");
    const opensList = event.type === "mousedown" || event.type === "keydown";
    if (!control || (opensList && (control.tagName !== "SELECT" || event.key === "Tab"))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.refuses(control);
  }
}
