// The machines and groups of them: a row for each, with details that open on a tap.

const tempoText = (tempo) => `${+tempo.toFixed(2)}`;
const milliseconds = (value) => `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${+Math.abs(value).toFixed(2)}`;

/** Reads a typed number with a decimal comma or point and either kind of minus; NaN if it is invalid. */
function typedNumber(text) {
  const plain = text.trim().replace(",", ".").replace("\u2212", "-");
  return plain === "" ? NaN : Number(plain);
}

/** A number field: sends the number after typing, and shows the present value unless somebody is typing. */
class NumberField {
  #shown = "";

  /** @param wrong says in words what is wrong with a number, if anything; without it the gateway does. */
  constructor(input, send, wrong = () => undefined) {
    this.input = input;
    input.addEventListener("change", () => {
      const number = typedNumber(input.value);
      input.blur();
      const problem = wrong(number);
      if (!problem) return send(Number.isNaN(number) ? input.value : number);
      input.value = this.#shown;
      tell(`Not done. ${problem}`);
    });
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") input.blur(); });
    input.addEventListener("focus", () => input.select());
  }

  show(text) {
    this.#shown = text;
    if (document.activeElement !== this.input) this.input.value = text;
  }
}

/** Has a button show and hide a part of the page. */
function disclose(button, body, changed) {
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-controls", body.id);
  button.addEventListener("click", () => {
    body.hidden = !body.hidden;
    button.setAttribute("aria-expanded", `${!body.hidden}`);
    changed(!body.hidden);
  });
}

/** Writes a text only if it has changed, so that screen readers stay quiet and selections are kept. */
function write(element, text) { if (element.textContent !== text) element.textContent = text; }

function microseconds(value) { return value < 1000 ? `${Math.round(value)} \u00b5s` : `${(value / 1000).toFixed(1)} ms`; }

/** The heading of a row; only the end of a path. */
const shortName = ({ name }) => name.startsWith("/") ? name.split("/").at(-1) : name;

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Whether it is the port that exists for any program to connect to, and belongs to no machine. */
const isGeneral = ({ id, profile }) => id === "clock" && profile === null;

/** Since when machines are gone that were there in this run of the gateway. */
const goneSince = new Map();

/** Notes which machines have gone. When, is only known of those that were seen to go. */
function noteGone({ pid, outputs }) {
  if (goneSince.get("pid") !== pid) goneSince.clear();
  const isNew = !goneSince.has("pid");
  goneSince.set("pid", pid);
  for (const output of outputs) {
    const { id, connected, enabled, ticks } = output;
    if (connected || !enabled || !ticks || isGeneral(output)) goneSince.delete(id);
    else if (!goneSince.has(id)) goneSince.set(id, isNew ? "" : ` since ${new Date().toLocaleTimeString("en-GB").slice(0, 5)}`);
  }
}

/** The states that come first, in this order; others stay in the order of the outputs. */
const troubles = ["gone", "stuck", "late"];

/** The groups and machines with how each is doing: trouble first, then groups. */
function sorted({ outputs, warnings }) {
  const rank = ([key]) => (troubles.indexOf(key) + troubles.length + 1) % (troubles.length + 1);
  return [...groupsOf(outputs), ...outputs].map((output) => ({ output, state: machineState(output, warnings) }))
    .sort((one, other) => isGeneral(one.output) - isGeneral(other.output) || rank(one.state) - rank(other.state));
}

/** The groups that machines belong to, as if each was a machine. Their names are case-insensitive. */
function groupsOf(outputs) {
  const names = outputs.flatMap(({ groups }) => groups ?? []);
  return [...new Map(names.map((name) => [name.toLowerCase(), name]))].map(([key, name]) => {
    const members = outputs.filter(({ groups }) => groups?.some((one) => one.toLowerCase() === key));
    const muted = members.some((one) => one.muted) && members.every((one) => one.muted || one.timeCode);
    return { id: name, name, members, muted, bend: members.find(({ bend }) => bend)?.bend };
  });
}

/** What tells a machine or a group from all others. */
const keyOf = ({ id, members }) => members ? `group ${id}` : id;

/** How a machine or a group is doing: a key for its colour and shape, and the words for people. */
function machineState(output, warnings) {
  const { members } = output;
  const change = changeState(members ?? [output], output);
  if (members) {
    const muted = members.filter((one) => one.muted).length;
    return change ?? ["group", muted ? `${muted} of ${members.length} muted` : `Group of ${members.length}`];
  }
  if (!output.enabled) return ["off", "Off"];
  const stuck = { "device-stuck": "Stuck", "out-of-step": "Out of step" };
  const trouble = warnings.find(({ code, output: id }) => id === output.id && code in stuck);
  if (trouble) return ["stuck", stuck[trouble.code]];
  if (goneSince.has(output.id)) return ["gone", `Gone${goneSince.get(output.id)}`];
  if (!output.connected) return ["away", "Not connected"];
  if (change) return change;
  const words = { "in-time": "In time", loose: "Loose", late: "Late" };
  const timing = output.lastMinute?.timing;
  return timing in words ? [timing, words[timing]] : ["idle", "Connected"];
}

/** What was done with some machines by hand, if anything. */
function changeState(outputs, { bend, muted }) {
  if (bend) return ["bent", `${milliseconds(Math.round(bend.milliseconds))} ms`];
  const changing = outputs.find(({ changesAtBeat }) => changesAtBeat != null);
  if (changing) return ["turning", `${changing.muted ? "Stops" : "Enters"} at a bar`];
  return muted ? ["off", "Muted"] : undefined;
}

/** What a machine really gets, if it is not a clock at the session's tempo. */
function otherClock({ sentTempo, timeCode }, tempo) {
  if (timeCode) return `Time code ${timeCode}`;
  return sentTempo != null && Math.abs(sentTempo - tempo) >= 0.05 ? `${sentTempo.toFixed(1)} BPM` : "";
}

/** What the gateway takes for each field. */
const ranges = JSON.parse('{ranges}');

/** Says in words what is wrong with a number, if anything. */
function wrongFor(what, range) {
  const isRight = (number) => number >= range.least && number <= range.most && (!range.isWhole || Number.isInteger(number));
  return (number) => isRight(number) ? undefined : `${what} is ${range.words.replace("-", "\u2212")}.`;
}

/** Lowest and highest tempo that a machine takes; without a range of its own, all tempos of a session. */
const rangeOf = ({ range }) => range ?? [ranges.tempo.least, ranges.tempo.most];

/** A machine or a group in a list: mute, realign and bend, and details that open. The kind is that of its template. */
class Player {
  constructor(kind, output) {
    const name = shortName(output);
    this.newest = output;
    this.element = document.getElementById(kind).content.firstElementChild.cloneNode(true);
    const find = (selector) => this.element.querySelector(selector);
    Object.assign(this, { name: find(".name"), doing: find(".doing"), mute: find(".mute"), details: find(".details") });
    const path = `outputs/${encodeURIComponent(output.id)}`;
    this.mute.addEventListener("click", async () => {
      // It is seen at once that it was asked for.
      this.mute.ariaBusy = "true";
      // Which of a group can be muted, is for the gateway to say.
      await act("POST", `${path}/mute`, this.newest.members ? {} : { muted: !this.newest.muted });
      this.mute.ariaBusy = null;
    });
    this.button(".realign", `Realign ${name}`, () => act(
      "POST", `${path}/realign`, {}, () => `${name} will realign at the next bar.`));
    this.button(".enter", `${name}: Enter in 4 bars`, () => act(
      "POST", `${path}/mute`, { muted: false, afterBars: 4 }, () => `${name} will enter after 4 bars.`));
    this.ofMuted = find(".enter");
    this.ofPlaying = kind === "chip" ? find(".realign") : null;
    const bends = this.element.querySelectorAll(".bend");
    // A chip is named by what is in it.
    this.mute[kind === "chip" ? "title" : "ariaLabel"] = `Mute ${name} at the next bar`;
    bends.forEach((one, index) => { one.ariaLabel = `${name} ${index ? "faster" : "slower"} while held`; });
    new Bend(bends, `${path}/bend`);
    this.details.id = `${kind}-${encodeURIComponent(keyOf(output))}`;
    disclose(find("button:not(.mute)"), this.details, (isOpen) => this.fold(isOpen));
  }

  button(selector, label, act) {
    const button = this.element.querySelector(selector);
    button.setAttribute("aria-label", label);
    button.addEventListener("click", act);
  }

  fold() {}

  show(output, [state, words]) {
    this.newest = output;
    this.element.dataset.state = state;
    write(this.name, shortName(output));
    write(this.doing, words);
    this.mute.setAttribute("aria-pressed", output.muted);
    this.ofMuted.hidden = !output.muted;
    // In a chip there is room for one of them, and what is muted cannot be realigned.
    if (this.ofPlaying) this.ofPlaying.hidden = output.muted;
  }
}

class Group extends Player {
  constructor(output) {
    super("output", output);
    this.details.replaceChildren(this.details.querySelector(".bends"));
  }
}

class Machine extends Player {
  static #step = 0.5;

  constructor(output, act, listen) {
    super("output", output);
    const name = shortName(output);
    const find = (selector) => this.element.querySelector(selector);
    Object.assign(this, {
      shift: find(".shift"), sends: find("[role=switch]"), sendsWord: find(".word"), sendsWhat: find(".what"),
      ofClocks: this.element.querySelectorAll(".bends, .settings, .calibrate"),
      plot: find("svg"), figures: Object.fromEntries(Array.from(this.element.querySelectorAll("dd"), (one) => [one.className, one])),
    });
    const change = (settings) => act("PATCH", `outputs/${encodeURIComponent(output.id)}`, settings);
    const nudge = (by) => act("POST", "nudge", { milliseconds: by, output: output.id });
    this.button(".earlier", `${name} earlier by ${Machine.#step} ms`, () => nudge(-Machine.#step));
    this.button(".later", `${name} later by ${Machine.#step} ms`, () => nudge(Machine.#step));
    this.button("[role=switch]", `Send to ${name}`, () => change({ enabled: this.sends.getAttribute("aria-checked") !== "true" }));
    this.button(".calibrate", `Calibrate ${name} by listening`, () => listen(output));
    const field = (place, label, send, wrong) => {
      const input = find(`${place} input`);
      input.setAttribute("aria-label", `${label} of ${name}`);
      return new NumberField(input, send, wrong);
    };
    const setRange = (lowest, highest) => change({ range: [lowest, highest] });
    const [lowest, highest] = [() => rangeOf(this.newest)[0], () => rangeOf(this.newest)[1]];
    const wrongTempo = wrongFor("A tempo of a range", ranges.deviceTempo);
    const octave = "The highest tempo must be at least twice the lowest.";
    this.fields = {
      offset: field(".offset", "Offset in milliseconds, negative is earlier,", (offset) => change({ offsetMilliseconds: offset }),
        wrongFor("An offset", ranges.offset)),
      multiply: field(".multiply", "Multiply, clock faster by this factor,", (multiply) => change({ multiply }),
        wrongFor("Multiply", ranges.multiply)),
      divide: field(".divide", "Divide, clock slower by this factor,", (divide) => change({ divide }),
        wrongFor("Divide", ranges.divide)),
      swing: field(".swing", "Swing in percent, 50 is straight,", (swing) => change({ swing }),
        wrongFor("Swing", ranges.swing)),
      lowest: field(".lowest", "Lowest tempo in BPM", (bpm) => setRange(bpm, highest()),
        (bpm) => wrongTempo(bpm) ?? (highest() < 2 * bpm ? `${octave} Raise the highest first.` : undefined)),
      highest: field(".highest", "Highest tempo in BPM", (bpm) => setRange(lowest(), bpm),
        (bpm) => wrongTempo(bpm) ?? (bpm < 2 * lowest() ? `${octave} Lower the lowest first.` : undefined)),
    };
    this.fold(false);
  }

  /** The general port's buttons are for those who open it. */
  fold(isOpen) {
    if (isGeneral(this.newest)) for (const one of this.element.querySelectorAll(".mute, .realign")) one.hidden = !isOpen;
    if (isOpen) this.#showDetails();
  }

  show(output, [state, words], tempo) {
    const other = otherClock(output, tempo);
    super.show(output, [state, other ? `${words} \u00b7 ${other}` : words]);
    if (output.timeCode) this.mute.hidden = true;
    write(this.shift, output.offsetMilliseconds ? `${milliseconds(output.offsetMilliseconds)} ms` : "");
    this.fields.offset.show(milliseconds(output.offsetMilliseconds));
    if (!this.details.hidden) this.#showDetails();
  }

  #showDetails() {
    const output = this.newest;
    const { profile, port, connected, enabled, timeCode, soundCard: card, lastMinute, latenessMicroseconds: lateness } = output;
    const unit = timeCode ? "quarter frames" : card ? "pulses" : "ticks";
    for (const one of this.ofClocks) one.hidden = Boolean(timeCode);
    write(this.sendsWhat, timeCode ? "time code" : "clock");
    this.sends.setAttribute("aria-checked", enabled);
    write(this.sendsWord, enabled ? "On" : "Off");
    for (const key of ["multiply", "divide", "swing"]) this.fields[key].show(`${output[key]}`);
    ["lowest", "highest"].forEach((key, index) => this.fields[key].show(`${rangeOf(output)[index]}`));
    const count = (ticks, late) => `${ticks.toLocaleString("en")} ${unit}${card ? "" : `, ${late.toLocaleString("en")} over 1 ms late`}`;
    const rate = card?.partsPerMillion == null ? "" : `, ${card.partsPerMillion.toFixed(1)} ppm fast`;
    const figures = {
      profile: profile ?? "None", port: port ? connected ? port : `${port}, nothing connected` : "Not connected",
      minute: lastMinute ? `${count(lastMinute.ticks, lastMinute.lateTicks)}, at most ${microseconds(lastMinute.maxMicroseconds)}` : card ? "Not measured" : `No ${unit}`,
      total: count(output.ticks, output.lateTicks) + (output.skippedTicks ? `, ${output.skippedTicks} left out` : ""),
      lateness: lateness ? `Half within ${microseconds(lateness.p50)}, 99 % within ${microseconds(lateness.p99)}, at most ${microseconds(lateness.max)}` : card ? `Card: ${card.sampleRate} Hz${rate}, fell silent ${card.underruns} times` : "No figures",
    };
    for (const [key, text] of Object.entries(figures)) write(this.figures[key], text);
    this.plot.setAttribute("aria-label", `How late ${unit} left. ${figures.lateness}.`);
    this.#draw(lateness?.histogram);
  }

  /** Draws a histogram of lateness: each limit is twice the one before, heights are logarithmic. */
  #draw({ below, counts } = { below: [], counts: [] }) {
    const shape = (kind, sizes, late) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
      for (const [name, value] of Object.entries(sizes)) made.setAttribute(name, value);
      if (late) made.classList.add("late");
      return made;
    };
    const tallest = Math.log1p(Math.max(...counts));
    const width = 120 / counts.length;
    this.plot.replaceChildren(shape("line", { x1: 0, x2: 120, y1: 27.5, y2: 27.5 }), ...counts.map((count, index) => {
      const height = count ? Math.max(2, 27 * Math.log1p(count) / tallest) : 0;
      return shape("rect", { x: index * width + 0.75, y: 27.5 - height, width: width - 1.5, height }, index > 0 && below[index - 1] >= 1000);
    }));
  }
}

/** A list with an element for each machine and group, as `sorted` has them. */
class Rows {
  #known = new Map();

  /** @param make makes what has the element of a machine or a group, and shows it. */
  constructor(list, make) { Object.assign(this, { list, make }); }

  show(rows, tempo) {
    const keys = new Set(rows.map(({ output }) => keyOf(output)));
    for (const [key, row] of this.#known) {
      if (keys.has(key)) continue;
      row.element.remove();
      this.#known.delete(key);
    }
    const { list } = this;
    const held = list.contains(document.activeElement) ? document.activeElement : null;
    // Nothing moves away from a finger, or while somebody types.
    const isHeld = list.matches(":active, :has(.held)") || held?.matches("input");
    rows.forEach(({ output, state }, index) => {
      const key = keyOf(output);
      let row = this.#known.get(key);
      const isNew = !row;
      if (isNew) this.#known.set(key, row = this.make(output));
      if (isNew || (!isHeld && list.children[index] !== row.element)) list.insertBefore(row.element, list.children[index] ?? null);
      row.show(output, state, tempo);
    });
    if (held && document.activeElement !== held) held.focus({ preventScroll: true });
  }
}

class Outputs {
  constructor(part, act, listen) {
    this.part = part;
    this.rows = new Rows(part.outputs, (output) => output.members ? new Group(output) : new Machine(output, act, listen));
  }

  show(status) {
    this.rows.show(sorted(status), status.tempo);
    this.part.noOutputs.hidden = !status.outputs.every(isGeneral);
    this.part.allMachines.hidden = !this.part.noOutputs.hidden;
  }
}
