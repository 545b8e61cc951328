// Short tones, made here; nothing sounds unless a person turned sound on.
import { settings } from "./settings.svelte";

export type Sound = "chip" | "closed" | "won" | "refused" | "asked";
const TONES: Record<Sound, readonly (readonly [frequency: number, at: number, long: number])[]> = {
  chip: [[1900, 0, 0.03]],
  closed: [[660, 0, 0.12], [440, 0.14, 0.2]],
  won: [[660, 0, 0.1], [880, 0.12, 0.1], [1320, 0.24, 0.22]],
  refused: [[220, 0, 0.18]],
  asked: [[880, 0, 0.12], [880, 0.2, 0.12]],
};
let context: AudioContext | null = null;

export function sound(name: Sound): void {
  if (!settings.sound) return;
  context ??= new AudioContext();
  for (const [frequency, at, long] of TONES[name]) {
    const start = context.currentTime + at;
    const tone = context.createOscillator();
    const volume = context.createGain();
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.08, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + long);
    tone.connect(volume).connect(context.destination);
    tone.start(start);
    tone.stop(start + long);
  }
}
