// The sounds of the game, synthesised here: pebbles falling on pebbles, a mandarin, and a tune for the verse at the
// end.

// Hertz: one note per syllable, high or low according to its spoken tone
const VERSE = [659, 523, 392, 440, 523, 523, 659, 330];
const BEAT = 0.27; // seconds

let context = null,
  noise = null;

/** Allow sounds; browsers require that this happens during a tap or key press. */
export function wake() {
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume().catch(() => {});
}

/** Play the sound of a sown seed, a captured square, a captured mandarin, or the tune at the end. */
export function sound(kind) {
  if (context?.state !== "running") return;
  const at = context.currentTime,
    near = (value) => value * (0.92 + 0.16 * Math.random()); // no two pebbles sound alike
  const pebbles = (count, loud) => {
    for (let number = 0; number < count; number++) knock(at + number * near(0.035), near(2600), loud * near(0.9));
  };
  if (kind === "seed") pebbles(1, 0.5);
  else if (kind === "take") pebbles(4, 0.6);
  else if (kind === "stone") {
    knock(at, near(420), 1.2, 0.22);
    pebbles(5, 0.5);
  } else VERSE.forEach((pitch, number) => pluck(at + BEAT * (number + Math.floor(number / 2) * 0.35), pitch));
}

/** Play a short burst of noise that rings at one pitch: stone on stone. */
function knock(at, pitch, loud, seconds = 0.06) {
  noise ??= burst();
  const source = new AudioBufferSourceNode(context, { buffer: noise }),
    ring = new BiquadFilterNode(context, { type: "bandpass", frequency: pitch, Q: 9 });
  source.connect(ring).connect(fading(at, loud, seconds));
  source.start(at, Math.random() * 0.5, seconds);
}

/** Play a plucked string. */
function pluck(at, pitch) {
  const string = new OscillatorNode(context, { type: "triangle", frequency: pitch });
  string.connect(fading(at, 0.16, 0.7));
  string.start(at);
  string.stop(at + 0.7);
}

function fading(at, loud, seconds) {
  const volume = new GainNode(context, { gain: 0 });
  volume.gain.setValueAtTime(loud, at);
  volume.gain.exponentialRampToValueAtTime(0.001, at + seconds);
  volume.connect(context.destination);
  return volume;
}

/** Return one second of white noise. */
function burst() {
  const made = new AudioBuffer({ length: context.sampleRate, sampleRate: context.sampleRate }),
    samples = made.getChannelData(0);
  for (let place = 0; place < samples.length; place++) samples[place] = 2 * Math.random() - 1;
  return made;
}
