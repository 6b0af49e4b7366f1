// The page: shows each status, and sends commands.

const part = Object.fromEntries(Array.from(document.querySelectorAll("[id]"), (element) => [element.id, element]));
const position = new Position();
let status = null;

const pulse = new Pulse(part, position);
const outputs = new Outputs(part, act, (output) => listening.open(output));
const quantum = new NumberField(part.quantum, (beats) => act("POST", "quantum", { beats }));
const following = new FollowChoice(part.follow, (source) => act("POST", "follow", { source }));
const notices = new Notices(part.notice);
const gateway = new Gateway({ status: take, reach: showReach, token: askForToken, command: () => notices.begin() });
const listening = new ListenDialog(gateway, part, tell);
const session = new SessionCard(gateway, part);
const stage = new Stage(part, position, pulse);
const lock = new Lock(tell);
new Share(gateway, part);

/** Sends a command; shows why if it is refused, or else what `done` says of the new status. True if it was done. */
async function act(method, path, body, done) {
  try {
    const answer = await gateway.command(method, path, body);
    if (done) tell(done(answer));
    return true;
  } catch (error) {
    if (status) show(status);
    tell(reason(error, path));
    return false;
  }
}

function reason(error, path) {
  if (!(error instanceof CommandError)) return "Not done: the gateway does not answer.";
  switch (error.code) {
    case "not-leader": return path === "transport"
      ? `Not done: ${leader()} plays and stops, until four bars after its last Start or Stop. Follow nobody, then it again, and you do at once.`
      : `Not done: ${leader()} leads. Turn Link on to play with the others instead.`;
    case "unauthorized": return "Not done: the token is wrong.";
    case "busy": return "Not done: too much at once. Try again.";
    case "out-of-range": return `${error.message[0].toUpperCase()}${error.message.slice(1)}.`;
    default: return `Not done. ${error.message}`;
  }
}

let silenced;
function tell(text) {
  part.told.textContent = text;
  clearTimeout(silenced);
  silenced = setTimeout(() => { part.told.textContent = ""; }, 6000);
}

// Showing

/** Takes a new status. Showing one again, as after a refused command, must not set the beat back. */
function take(newest) {
  position.take(newest, performance.now());
  show(newest);
}

/** A measured tempo, only as exactly as it is known. */
const measured = (tempo, doubt) => tempo.toFixed(doubt === null || doubt < 0.05 ? 1 : 0);

function show(newest) {
  status = newest;
  const tempo = newest.mode === "follow" ? measured(newest.tempo, newest.follower.tempoDoubt)
    : (Math.round(newest.tempo * 100) / 100).toFixed(2).replace(/(\.\d)0$/, "$1");
  write(part.tempo, tempo);
  // What is missing to two decimals keeps its room; of a tempo that is known exactly, it is seen.
  part.tempo.dataset.rest = tempo.includes(".") ? "0".repeat(2 - tempo.split(".")[1].length) : ".00";
  part.tempo.classList.toggle("rough", newest.mode === "follow");
  part.stageTempo.classList.toggle("rough", newest.mode === "follow");
  noteGone(newest);
  part.tempo.setAttribute("aria-label", `Tempo ${tempo} BPM, change it`);
  showLeader(newest);
  showTransport(newest);
  showUndo(newest.undo);
  showLink(newest.link, newest.warnings);
  quantum.show(`${+newest.quantum.toFixed(2)}`);
  following.show(newest.follower.choice);
  showFollower(newest.follower);
  showWarnings(newest.warnings);
  outputs.show(newest);
  session.show(newest.link);
  showMachine(newest);
  stage.show(newest);
  lock.show(newest);
  notices.take(newest);
}

/** Name of the machine that leads while Link is off. */
const leader = () => status?.follower.source ?? "A MIDI clock";

function showLeader({ mode, reason, link }) {
  write(part.mode, { link: "", follow: `${leader()} leads`, internal: "You lead" }[mode]);
  write(part.reason, mode !== "link" ? reason : link.lastChange ? changeWords(link.lastChange) : "");
}

function showTransport({ playing, transport, startsInBeats }) {
  document.body.classList.toggle("playing", transport === "playing");
  document.body.classList.toggle("pending", transport === "pending");
  const words = { stopped: "Stopped", playing: "Playing", pending: `Starts in ${Math.ceil(startsInBeats ?? 0)}` };
  write(part.transport, words[transport]);
  write(part.playWord, playWord({ transport, playing }));
  part.playSign.setAttribute("d", playSign({ playing }));
}

/** The button says by its label what it would do. */
function showUndo(what) {
  part.undo.disabled = !what;
  write(part.undo, what ? `Undo: ${what}` : "Undo");
}

/** Whether this page has seen peers since Link was switched on. */
let hadPeers = false;
function showLink({ enabled, active, peers, startStopSync }, warnings) {
  part.link.setAttribute("aria-checked", enabled);
  part.sync.setAttribute("aria-checked", startStopSync);
  const isLost = warnings.some(({ code }) => code === "link-lost");
  hadPeers = enabled && (hadPeers || peers > 0);
  for (const chip of [part.links, part.stageLinks]) {
    write(chip, enabled ? `Link \u00b7 ${peers}` : "Link off");
    chip.dataset.state = !enabled ? "off" : isLost || (hadPeers && peers === 0) ? "lost" : peers ? "here" : "alone";
  }
  write(part.linkNote, !enabled ? "Off" : !active ? "On; joins when an output is connected or the song plays" : "On");
  for (const button of [part.halve, part.double]) button.classList.toggle("shared", peers > 0);
}

/** Whether half and double would change the tempo of others. */
const isShared = () => status?.link.peers > 0;

function showFollower({ state, source, tempo, tempoDoubt, jitterMicroseconds, coarsenessMicroseconds, seen, refused }) {
  const name = source ?? "A clock";
  write(part.follower, {
    disabled: "Ignored while Link is on", off: "Nobody is followed", waiting: "No clock is heard",
    settling: `${name} is not steady yet`, locked: `Following ${name}`, lost: `${name} has fallen silent; its tempo continues`,
  }[state]);
  const quality = jitterMicroseconds === null ? "" : jitterMicroseconds < 500 ? "steady" : jitterMicroseconds < 2000 ? "fair" : "shaky";
  const figures = [
    tempo !== null && `${tempoDoubt < 0.05 ? "" : "about "}${measured(tempo, tempoDoubt)} BPM`,
    jitterMicroseconds !== null && `jitter ${microseconds(jitterMicroseconds)}, ${quality}`,
    coarsenessMicroseconds >= 2000 && `ticks up to ${(coarsenessMicroseconds / 1000).toFixed(1)} ms late`,
    seen,
  ];
  write(part.followed, figures.filter(Boolean).join(" \u00b7 "));
  list(part.refused, refused, "li", (item, clock) => {
    write(item, `Ignored: ${clock.name} (${clock.reason}), ${clock.ticks} ticks`);
  });
}

function showWarnings(all) {
  const [restarted] = all.filter(({ code }) => code === "restarted");
  const warnings = all.filter((one) => one !== restarted);
  part.ask.hidden = !restarted;
  if (restarted) write(part.askText, restarted.message);
  part.warnings.hidden = warnings.length === 0;
  part.warned.hidden = warnings.length === 0;
  write(part.warned, warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`);
  list(part.warningList, warnings, "li", (item, warning) => {
    if (!item.lastChild.className) {
      item.lastChild.type = "button";
      item.lastChild.className = "copy";
      item.lastChild.textContent = "Copy";
      item.lastChild.addEventListener("click", () => copy(commandIn(item.children[1].textContent)));
    }
    write(item.firstChild, capital(warning.message));
    write(item.children[1], warning.fix);
    const command = commandIn(warning.fix);
    item.lastChild.hidden = !command;
    if (command) item.lastChild.setAttribute("aria-label", `Copy ${command}`);
  }, "b", "p", "button");
}

function showMachine({ version, realtime, link }) {
  const granter = realtime.scheduling === "rr" ? " by rtkit" : "";
  const scheduling = realtime.priority > 0 ? `real-time priority ${realtime.priority}${granter}` : "no real-time priority";
  const networks = link.interfaces.length ? ` \u00b7 Link on ${link.interfaces.join(", ")}` : "";
  write(part.machine, `Tactus ${version} \u00b7 ticks leave by ${realtime.dispatch} \u00b7 ${scheduling}${networks}`);
}

/** The first command that a sentence quotes, if any. An apostrophe inside a word is no quote. */
const commandIn = (fix) => fix.match(/(?:^|[\s(])'(.+?)'(?=[\s,;.)]|$)/)?.[1];

/** Copies a text. Over plain HTTP from another computer, browsers allow that only by a selection. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    const held = document.activeElement;
    field.className = "copied";
    field.value = text;
    document.body.append(field);
    field.focus({ preventScroll: true });
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    // Otherwise the next press of the space bar would not be for the button, and would play or stop.
    held?.focus({ preventScroll: true });
    if (!isCopied) return tell("Not copied: this browser does not allow it. Select the text instead.");
  }
  tell("Copied.");
}

/** Updates a list so that it has one item for each value, made of the parts of these kinds. */
function list(element, values, kind, update, ...parts) {
  while (element.children.length > values.length) element.lastElementChild.remove();
  const make = (one) => document.createElement(one);
  while (element.children.length < values.length) {
    element.append(make(kind));
    element.lastChild.append(...parts.map(make));
  }
  values.forEach((value, index) => update(element.children[index], value));
}

/** Asks for the ports regularly: the status does not list them. */
function findPorts() {
  if (!document.hidden && !part.deck.inert) gateway.ask("GET", "ports").then((ports) => following.take(ports), () => {});
}
setInterval(findPorts, 3000);

/** Shows that the page is outdated while there is no connection. */
let held = null;
function showReach(isReached) {
  if (!isReached && !part.deck.inert) held = part.deck.contains(document.activeElement) ? document.activeElement : null;
  const isBack = isReached && part.deck.inert;
  document.body.classList.toggle("away", !isReached);
  part.deck.inert = !isReached;
  part.lost.hidden = isReached;
  if (isBack) {
    findPorts();
    if (document.activeElement === document.body) held?.focus({ preventScroll: true });
  }
  if (isReached) return;
  position.forget();
  write(part.lost, "No connection to the gateway. Your machines are probably still playing. Trying again\u2026");
}

function askForToken(wasWrong) {
  part.keyWrong.textContent = wasWrong ? "The token is wrong." : "";
  part.keyText.value = "";
  part.key.showModal();
  return new Promise((resolve) => {
    part.keyForm.addEventListener("submit", () => resolve(part.keyText.value.trim()), { once: true });
  });
}
part.key.addEventListener("cancel", (event) => event.preventDefault());

// Controls

// All controls but the stage's act on a click: a finger that starts to scroll makes none.

const wantsTaps = ({ taps }) => (taps && taps.counted < taps.wanted ? `Tap ${taps.counted} of ${taps.wanted}.` : "");
const tap = (time) => act("POST", "tap", { milliseconds: performance.timeOrigin + time }, wantsTaps);
const setTempo = (bpm) => act("POST", "tempo", { bpm });
const stepTempo = (step) => act("POST", "tempo", { step });
const playOrStop = () => status && act("POST", "transport", { playing: !status.playing });

// Two touches this close are one press, in milliseconds: the answer to the first may be here before the second, which would
// stop what has just been played.
const BOUNCE = 150;
let playPressed = -BOUNCE;
function pressPlay(time) {
  if (time - playPressed < BOUNCE) return;
  playPressed = time;
  playOrStop();
}

// A tap has the time of the touch, though it is sent on release. Keys and screen readers only click.
let struck = null;
part.tap.addEventListener("pointerdown", (event) => { struck = event.timeStamp; });
part.tap.addEventListener("click", (event) => {
  tap((event.detail && struck) || event.timeStamp);
  struck = null;
});
part.askYes.addEventListener("click", () => act("POST", "transport", { playing: true }));
part.askNo.addEventListener("click", () => act("POST", "transport", { playing: false }));
part.play.addEventListener("click", ({ detail, timeStamp }) => { if (detail) pressPlay(timeStamp); else playOrStop(); });

// In the stage view each finger acts for itself: browsers make clicks only of one that is alone, so they make none here. Play
// and Tap act as soon as a finger or a mouse comes down, since it may slide. Keys and screen readers only click.
const atOnce = new Map([[part.stagePlay, pressPlay], [part.stageTap, tap]]);
part.stagePlay.addEventListener("click", playOrStop);
part.stageTap.addEventListener("click", ({ timeStamp }) => tap(timeStamp));
const pressed = new Map();
/** What has acted: a click that ends this press, as of a mouse or a pen, is for nobody. */
let acted = null;
part.stageView.addEventListener("pointerdown", ({ target, button, pointerId, pointerType, timeStamp }) => {
  const control = target.closest("button:not(.lock, .bend)");
  if (button !== 0 || !control) return;
  const deed = atOnce.get(control);
  acted = deed ? control : null;
  if (!deed && pointerType !== "mouse") pressed.set(pointerId, control);
  if (deed && !lock.refuses(control)) deed(timeStamp);
});
part.stageView.addEventListener("pointercancel", ({ pointerId }) => pressed.delete(pointerId));
part.stageView.addEventListener("pointerup", ({ pointerId, clientX, clientY }) => {
  const control = pressed.get(pointerId);
  pressed.delete(pointerId);
  if (!control?.contains(document.elementFromPoint(clientX, clientY))) return;
  control.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
  acted = control;
});
part.stageView.addEventListener("touchend", (event) => {
  if (event.cancelable && event.target.closest("button:not(.lock)")) event.preventDefault();
});
addEventListener("click", (event) => {
  if (!event.detail || !acted?.contains(event.target)) return;
  acted = null;
  event.stopImmediatePropagation();
}, true);

// Elsewhere a touch that ends without a click says so.
let touched = null;
function tellMissed(press) {
  if (!press || press !== touched) return;
  touched = null;
  tell("Not done: the finger moved. Press again.");
}
addEventListener("pointerdown", ({ target, pointerType, isPrimary }) => {
  const isButton = target.closest?.("button:not(:disabled, .lock, .shared, .bend, .foot button)");
  touched = pointerType !== "mouse" && isPrimary && isButton ? {} : null;
}, true);
addEventListener("pointercancel", () => tellMissed(touched), true);
addEventListener("pointerup", () => { const press = touched; setTimeout(() => tellMissed(press), 300); }, true);
addEventListener("click", () => { touched = null; }, true);

part.slower.addEventListener("click", () => stepTempo(-1));
part.faster.addEventListener("click", () => stepTempo(1));
for (const [button, scale, word] of [[part.halve, 0.5, "halve"], [part.double, 2, "double"]]) {
  new Hold(button, {
    isNeeded: isShared, act: () => act("POST", "tempo", { scale }), tell,
    how: () => `Others are in the session: hold to ${word} their tempo, too.`,
  });
}
part.undo.addEventListener("click", () => {
  const { undo } = status;
  act("POST", "undo", {}, () => `Done: ${undo}.`);
});
part.earlier.addEventListener("click", () => act("POST", "nudge", { milliseconds: -1 }, () => "All outputs 1 ms earlier."));
part.later.addEventListener("click", () => act("POST", "nudge", { milliseconds: 1 }, () => "All outputs 1 ms later."));
part.link.addEventListener("click", () => status && act("POST", "link", { enabled: !status.link.enabled }));
part.sync.addEventListener("click", () => status && act("POST", "start-stop-sync", { enabled: !status.link.startStopSync }));

part.tempo.addEventListener("click", () => {
  part.tempo.hidden = true;
  part.typed.hidden = false;
  part.bpm.value = part.tempo.textContent;
  part.bpm.focus();
  part.bpm.select();
});
function endTyping(isMeant, isLeft = false) {
  if (part.typed.hidden) return;
  part.typed.hidden = true;
  part.tempo.hidden = false;
  if (!isLeft) part.tempo.focus();
  const bpm = typedNumber(part.bpm.value);
  const problem = wrongFor("A tempo", ranges.tempo)(bpm);
  if (isMeant && problem) tell(`Not done. ${problem}`);
  else if (isMeant && !lock.refuses(part.tempo)) setTempo(bpm);
}
part.typed.addEventListener("submit", (event) => { event.preventDefault(); endTyping(true); });
part.bpm.addEventListener("blur", () => endTyping(false, true));
part.bpm.addEventListener("keydown", (event) => { if (event.key === "Escape") endTyping(false); });

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog:modal")) return;
  if (event.target.closest("input, select")) return;
  const key = event.key.toLowerCase();
  if (key === "f") stage.toggle();
  if (key === "escape") stage.close();
  if (key === "t" && !lock.refuses(part.tap)) tap(event.timeStamp);
  if (key === " " && !event.target.closest("button, a")) {
    event.preventDefault();
    if (!lock.refuses(part.play)) playOrStop();
  }
});

gateway.listen();
