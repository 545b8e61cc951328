// Begins a page: its words first, then the page itself.
import { mount, type Component } from "svelte";
import "../look/everywhere.css";
import "../look/settings.svelte";
import { speak } from "../words/index.svelte";

/** Milliseconds before a page without any words loads itself again: the floor went away while it was loaded. */
const NO_WORDS = 3_000;

export async function begin(page: Component): Promise<void> {
  try {
    await speak().catch(() => speak("en"));
  } catch {
    setTimeout(() => location.reload(), NO_WORDS);
    return;
  }
  mount(page, { target: document.body });
}
