// Begins a page: its words first, then the page itself.
import { mount, type Component } from "svelte";
import "../theme/global.css";
import "../theme/settings.svelte";
import { loadLanguage } from "../i18n/index.svelte";

/** Milliseconds before a page without any words loads itself again: the server went away while it was loaded. */
const NO_WORDS = 3_000;

export async function mountPage(page: Component): Promise<void> {
  try {
    await loadLanguage().catch(() => loadLanguage("en"));
  } catch {
    setTimeout(() => location.reload(), NO_WORDS);
    return;
  }
  mount(page, { target: document.body });
}
