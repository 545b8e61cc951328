import { begin } from "../parts/page";
import Terminal from "./Terminal.svelte";

void begin(Terminal);
