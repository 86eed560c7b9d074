// The sound of seeds: short tones, made here.

const TONES = { seed: [620, 0.05], take: [300, 0.2], stone: [170, 0.6] }; // Hertz at the beginning, seconds
let context = null;

export function sound(kind) {
  context ??= new AudioContext();
  const [pitch, seconds] = TONES[kind], now = context.currentTime;
  const tone = context.createOscillator(), volume = context.createGain();
  tone.frequency.setValueAtTime(pitch * (0.95 + 0.1 * Math.random()), now);
  tone.frequency.exponentialRampToValueAtTime(pitch / 2, now + seconds);
  volume.gain.setValueAtTime(0.16, now);
  volume.gain.exponentialRampToValueAtTime(0.001, now + seconds);
  tone.connect(volume).connect(context.destination);
  tone.start(now);
  tone.stop(now + seconds);
}
