// Begins a page: its words first, then the page itself.
import { mount, type Component } from "svelte";
import "../look/everywhere.css";
import "../look/settings.svelte";
import { speak } from "../words/index.svelte";

export async function begin(page: Component): Promise<void> {
  await speak();
  mount(page, { target: document.body });
}
